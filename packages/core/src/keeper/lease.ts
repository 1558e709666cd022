import {
  type CertificatePair,
  type Credential,
  certificateFingerprint,
  credentialIdentity,
} from '../credential/credential.ts'
import { ClosedError, isCredentialError } from '../errors/index.ts'
import { encodeBase64 } from '../formats/base64.ts'
import type { Endpoint } from '../kubeconfig/connection.ts'
import type { Verdict } from '../lifecycle/state-machine.ts'
import type { Crypto } from '../ports/crypto.ts'
import type { CredentialPart, Validity } from '../ports/observer.ts'
import { Secret } from '../secret/secret.ts'
import type { Acquired } from '../sources/source.ts'
import { ResourceCache } from './resource-cache.ts'

/**
 * What a transport holds while it uses a credential.
 *
 * One object serves all requests with the same credential. Its ticket identifies the credential, so that a late refusal
 * cannot affect a newer one.
 */
export interface Lease {
  readonly ticket: number
  readonly credential: Credential
  /** The value of the `Authorization` header, if any. It is a secret. */
  readonly authorization: string | undefined
  readonly resources: ResourceCache
  /** The server it is for, if not the connection's. */
  readonly endpoint?: Endpoint
}

/** The lease that a keeper holds, with digests that tell its credential from others. */
export interface HeldLease extends Lease {
  readonly digest: string
  readonly tlsDigest: string
  /** Digest of server and credential: equal for logins that differ only in other fields. */
  readonly identity: string
}

/** Makes a lease of a credential. It takes over the resources of the old lease if the certificate is the same. */
export function makeLease(
  ticket: number,
  { credential, endpoint }: Pick<Acquired, 'credential' | 'endpoint'>,
  crypto: Crypto,
  old: HeldLease | undefined,
): HeldLease {
  const tlsDigest = crypto.digest(certificateFingerprint(credential.certificate))
  return {
    ticket,
    credential,
    authorization: authorizationOf(credential),
    resources:
      old?.tlsDigest === tlsDigest && !old.resources.isRetired
        ? old.resources
        : new ResourceCache(),
    ...(endpoint && { endpoint }),
    digest: crypto.digest(credentialIdentity(credential) + endpointText(endpoint)),
    identity: crypto.digest(`${endpoint?.cluster.server}\n${credentialIdentity(credential)}`),
    tlsDigest,
  }
}

/** Returns the secrets of leases, to remove them from text. */
export function leaseSecrets(...all: (HeldLease | undefined)[]): readonly Secret[] {
  return all.flatMap((lease) => {
    if (lease === undefined) return []
    return [...acquiredSecrets(lease), new Secret(lease.authorization ?? '')]
  })
}

function endpointText(endpoint: Endpoint | undefined): string {
  if (endpoint === undefined) return ''
  const { cluster, ...rest } = endpoint
  return JSON.stringify([{ ...cluster, proxyUrl: cluster.proxyUrl?.expose() }, rest])
}

/** A token takes precedence over basic, as in client-go. */
function authorizationOf({ token, scheme, basic }: Credential): string | undefined {
  if (token !== undefined) return `${scheme?.expose() ?? 'Bearer'} ${token.expose()}`
  if (scheme !== undefined) return scheme.expose()
  if (basic === undefined) return undefined
  const bytes = new TextEncoder().encode(`${basic.username}:${basic.password.expose()}`)
  return `Basic ${encodeBase64(bytes)}`
}

const PARTS = ['token', 'certificate', 'basic'] as const satisfies readonly CredentialPart[]

interface AcquiredFacts {
  readonly expiresAt: number | undefined
  readonly parts: readonly CredentialPart[]
  readonly certificate?: Validity
  readonly replaced?: Validity
}

/** Describes an acquired credential for events: its parts, its expiry, its certificate's validity and the replaced one's. */
export function acquiredFacts(
  { credential, expiresAt }: Acquired,
  lease: HeldLease,
  old: HeldLease | undefined,
): AcquiredFacts {
  const certificate = validityOf(lease.credential.certificate)
  const replaced =
    lease.tlsDigest === old?.tlsDigest ? undefined : validityOf(old?.credential.certificate)
  return {
    expiresAt: Number.isFinite(expiresAt) ? expiresAt : undefined,
    parts: partsOf(credential),
    ...(certificate && { certificate }),
    ...(replaced && { replaced }),
  }
}

/** Lists the parts of a credential. */
export function partsOf(credential: Credential): readonly CredentialPart[] {
  return PARTS.filter((part) => credential[part] !== undefined)
}

/** Returns the validity period of a certificate, without chain and key. */
export function validityOf(pair: CertificatePair | undefined): Validity | undefined {
  return pair && { notBefore: pair.notBefore, notAfter: pair.notAfter }
}

/** Returns the secrets of a credential, to remove them from text. */
export function acquiredSecrets({ credential }: Pick<Acquired, 'credential'>): readonly Secret[] {
  const { token, basic, certificate } = credential
  return [token, basic?.password, certificate?.key].filter((secret) => secret !== undefined)
}

/** Returns the lease of a verdict, throws its error, or returns undefined if there is a run to wait for. */
export function readVerdict(answer: Verdict<HeldLease>): Lease | undefined {
  switch (answer.is) {
    case 'use':
      return answer.held.credential
    case 'closed':
      throw new ClosedError()
    case 'fail':
      throw withNextTry(answer.error, answer.nextTryAt)
    case 'wait':
      return undefined
  }
}

/** Adds the time of the next run to the error that all callers receive until then. */
export function withNextTry(error: unknown, nextTryAt: number): unknown {
  if (isCredentialError(error) && Number.isFinite(nextTryAt)) error.nextTryAt = nextTryAt
  return error
}
