import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomUUID,
  sign,
} from 'node:crypto'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Pair } from './certificates.ts'

/** An issuer that the API server trusts. */
export interface TrustedIssuer {
  readonly url: string
  readonly caPem: string
  readonly audience: string
}

export interface TokenClaims {
  readonly user: string
  readonly groups?: readonly string[]
  /** By default one hour. */
  readonly lifetimeMs?: number
}

export const AUDIENCE = 'kubecred'
const KEY_ID = 'cluster-suite'
const HOUR_MS = 3_600_000

/**
 * An issuer of tokens with any lifetime.
 *
 * Tokens of kube-apiserver itself live at least ten minutes, and are accepted for one more. Tokens of an issuer in its
 * AuthenticationConfiguration expire to the second, except that the server caches a valid one for ten seconds.
 */
export class TokenIssuer implements TrustedIssuer {
  readonly audience = AUDIENCE
  readonly url: string
  readonly caPem: string
  /** PEM, so that {@link issueToken} works in every process. */
  readonly key: string
  readonly #server: https.Server

  private constructor(server: https.Server, caPem: string, key: string) {
    const { port } = server.address() as AddressInfo
    this.url = `https://127.0.0.1:${port}`
    this.caPem = caPem
    this.key = key
    this.#server = server
  }

  static async start(identity: Pair, caPem: string): Promise<TokenIssuer> {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const jwk = createPublicKey(key).export({ format: 'jwk' })
    const keys = [{ ...jwk, kid: KEY_ID, use: 'sig', alg: 'ES256' }]
    const server = https.createServer({ cert: identity.certificate, key: identity.key })
    server.on('request', ({ url = '', headers }, response) => {
      const issuer = `https://${headers.host}`
      const answer = url === '/keys' ? { keys } : discovery(issuer)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new TokenIssuer(server, caPem, key)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** Issues a token of a user. */
export function issueToken(url: string, key: string, { user, groups, lifetimeMs }: TokenClaims) {
  const expiresAt = Math.ceil((Date.now() + (lifetimeMs ?? HOUR_MS)) / 1000)
  const header = encode({ alg: 'ES256', kid: KEY_ID, typ: 'JWT' })
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: url, aud: AUDIENCE, sub: user, groups, iat: now, exp: expiresAt }
  const signed = `${header}.${encode({ ...claims, jti: randomUUID() })}`
  const signature = sign('sha256', Buffer.from(signed), {
    key: createPrivateKey(key),
    dsaEncoding: 'ieee-p1363',
  })
  const token = `${signed}.${signature.toString('base64url')}`
  return { token, expirationTimestamp: new Date(expiresAt * 1000).toISOString() }
}

/** Returns the AuthenticationConfiguration that trusts these issuers. */
export function authenticationConfiguration(issuers: readonly TrustedIssuer[]): object {
  return {
    apiVersion: 'apiserver.config.k8s.io/v1beta1',
    kind: 'AuthenticationConfiguration',
    jwt: issuers.map(({ url, caPem, audience }) => ({
      issuer: { url, certificateAuthority: caPem, audiences: [audience] },
      claimMappings: {
        username: { claim: 'sub', prefix: '' },
        groups: { claim: 'groups', prefix: '' },
      },
    })),
  }
}

function discovery(issuer: string): object {
  return {
    issuer,
    jwks_uri: `${issuer}/keys`,
    authorization_endpoint: `${issuer}/unused`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
