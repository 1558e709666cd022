import type { Driver } from '../../../packages/core/test/transports/driver.ts'
import type { TestCluster } from '../harness/test-cluster.ts'
import {
  execBoth,
  execCertificate,
  execToken,
  impersonation,
  staticCertificate,
  staticToken,
  tokenFile,
} from './credentials.ts'
import { certificateExpiry, refused, tokenExpiry } from './lifetimes.ts'
import { largeList, serverSideApply } from './requests.ts'
import { serviceAccount } from './service-account.ts'
import { execInPod, execRefusedOnce, watch } from './streams.ts'

/** Dispatchers of undici have raw upgrades, but no WebSockets. */
const SPEAKS_SPDY = /undici \((interceptor.*|undici \d)\)/

/** A row of the table. */
interface Row {
  readonly run: (driver: Driver, cluster: TestCluster) => Promise<void>
  /** Returns why a transport does not support the case, if so. */
  readonly without?: (driver: Driver) => string | undefined
}

const needsUpgrade = ({ name, cannot }: Driver): string | undefined => {
  if (SPEAKS_SPDY.test(name)) return 'It opens SPDY, which pods.test.ts tries.'
  return cannot?.upgrade
}
const needsCertificates = ({ cannot }: Driver): string | undefined =>
  cannot?.['certificate rotated']
const needsBodies = ({ cannot }: Driver): string | undefined => cannot?.['POST with a string']
const needsStreams = ({ streamsAreUpgrades }: Driver): string | undefined =>
  streamsAreUpgrades && 'Its only streams are upgrades.'

/** The cases that every transport is tested with, on a real kube-apiserver. */
export const ROWS: Readonly<Record<string, Row>> = {
  'static token': { run: staticToken },
  'static certificate': { run: staticCertificate, without: needsCertificates },
  'token file, rotated': { run: tokenFile },
  'plugin: token': { run: execToken },
  'plugin: certificate': { run: execCertificate, without: needsCertificates },
  'plugin: both, the certificate wins': { run: execBoth, without: needsCertificates },
  'tokens of 6 s for 16 s': { run: tokenExpiry },
  'certificates of 6 s for 16 s': { run: certificateExpiry, without: needsCertificates },
  'a refused token is replaced': { run: refused },
  'service account, deleted': { run: serviceAccount },
  'impersonation and RBAC': { run: impersonation },
  'a list of 10 MB': { run: largeList, without: needsStreams },
  'server-side apply': { run: serverSideApply, without: needsBodies },
  'a watch through rotations': { run: watch, without: needsStreams },
  'exec in a pod': { run: execInPod, without: needsUpgrade },
  'exec, refused once': { run: execRefusedOnce, without: needsUpgrade },
}
