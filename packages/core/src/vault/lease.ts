import type { Endpoint } from '../kubeconfig/connection.ts'
import type { Crypto } from '../ports/crypto.ts'
import {
  type Acquired,
  type Credential,
  certificateText,
  credentialText,
} from '../protocol/credential.ts'
import { Secret } from '../secret/secret.ts'
import { Derived } from './derived.ts'
import { acquiredSecrets } from './login-secrets.ts'

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
  readonly derived: Derived
  /** Where it is to be used, if not where the connection says. */
  readonly endpoint?: Endpoint
}

/** A lease, and what tells its credential from another one. */
export interface Kept extends Lease {
  readonly digest: string
  readonly tlsDigest: string
  /** Equal for what is the same to one server, whatever else the login said. */
  readonly identity: string
}

/** Wraps a credential; what was built from the one before stays in use if the certificate is the same. */
export function keep(
  ticket: number,
  { credential, endpoint }: Pick<Acquired, 'credential' | 'endpoint'>,
  crypto: Crypto,
  old: Kept | undefined,
): Kept {
  const tlsDigest = crypto.digest(certificateText(credential.certificate))
  return {
    ticket,
    credential,
    authorization: authorizationOf(credential),
    derived: old?.tlsDigest === tlsDigest && !old.derived.isRetired ? old.derived : new Derived(),
    ...(endpoint && { endpoint }),
    digest: crypto.digest(credentialText(credential) + endpointText(endpoint)),
    identity: crypto.digest(`${endpoint?.cluster.server}\n${credentialText(credential)}`),
    tlsDigest,
  }
}

/** Everything in credentials that must not show. */
export function keptSecrets(...all: (Kept | undefined)[]): readonly Secret[] {
  return all.flatMap((kept) => {
    if (kept === undefined) return []
    return [...acquiredSecrets(kept), new Secret(kept.authorization ?? '')]
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
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}
