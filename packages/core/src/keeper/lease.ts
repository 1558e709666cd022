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
 * One object serves all requests made with the same credential. The ticket says which one it was, so
 * that a late refusal cannot hurt a newer credential.
 */
export interface Lease {
  readonly ticket: number
  readonly credential: Credential
  /** The whole `Authorization` header, or undefined. It is a secret. */
  readonly authorization: string | undefined
  readonly derived: ResourceCache
  /** Where it is to be used, if not where the connection says. */
  readonly endpoint?: Endpoint
}

/** The lease that a keeper holds, with what distinguishes its credential from another one. */
export interface HeldLease extends Lease {
  readonly digest: string
  readonly tlsDigest: string
  /** Equal for what is the same to one server, whatever else the login said. */
  readonly identity: string
}

/** Wraps a credential; what was built from the one before stays in use if the certificate is the same. */
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
    derived:
      old?.tlsDigest === tlsDigest && !old.derived.isRetired ? old.derived : new ResourceCache(),
    ...(endpoint && { endpoint }),
    digest: crypto.digest(credentialIdentity(credential) + endpointText(endpoint)),
    identity: crypto.digest(`${endpoint?.cluster.server}\n${credentialIdentity(credential)}`),
    tlsDigest,
  }
}

/** Everything in credentials that must not show. */
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

/** A token wins over basic. */
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
  readonly holds: readonly CredentialPart[]
  readonly certificate?: Validity
  readonly replaced?: Validity
}

/** What may be reported about what a run brought: its kind, its end, its certificate and the one that it replaced. */
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
    holds: partsOf(credential),
    ...(certificate && { certificate }),
    ...(replaced && { replaced }),
  }
}

/** What kind of credential it is. */
export function partsOf(credential: Credential): readonly CredentialPart[] {
  return PARTS.filter((part) => credential[part] !== undefined)
}

/** Only the times, without chain and key. */
export function validityOf(pair: CertificatePair | undefined): Validity | undefined {
  return pair && { notBefore: pair.notBefore, notAfter: pair.notAfter }
}

/** Everything in a credential that must not show in what is said about it. */
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

/** Adds the time of the next try to an error that all callers get until then. */
export function withNextTry(error: unknown, nextTryAt: number): unknown {
  if (isCredentialError(error)) error.nextTryAt = nextTryAt
  return error
}
