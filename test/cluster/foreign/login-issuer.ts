import { generateKeyPairSync, sign } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import {
  LOGIN_KEY,
  LOGIN_PAGE,
  type LoginProvider,
  makeLoginProvider,
} from '../../../packages/core/test/fixtures/oidc-browser-login.ts'
import { issue, makeAuthority } from '../harness/certificates.ts'
import { LOOPBACK } from '../harness/stage.ts'
import type { TrustedIssuer } from '../harness/token-issuer.ts'

/** The client id that the API server accepts, and one that it does not. */
export const [CLIENT, STRANGER] = ['kube', 'stranger']
export const ACCOUNT = 'jane'

/** A real issuer, oidc-provider, with a browser login that always authenticates jane. */
export class LoginIssuer implements TrustedIssuer, AsyncDisposable {
  readonly audience = CLIENT
  readonly url: string
  readonly caPem: string
  /** The lifetime of id tokens issued from now on. */
  idTokenSeconds = 3600
  readonly #server: https.Server
  readonly #key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  readonly #provider: LoginProvider
  #logins = 0
  #tokens = 0

  private constructor(server: https.Server, caPem: string) {
    const { port } = server.address() as AddressInfo
    this.url = `https://127.0.0.1:${port}`
    this.caPem = caPem
    this.#server = server
    this.#provider = makeLoginProvider(this.url, {
      clients: [CLIENT, STRANGER],
      key: this.#key,
      idTokenSeconds: () => this.idTokenSeconds,
    })
    const forward = this.#provider.callback()
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (request.url === '/token') this.#tokens += 1
      if (request.url?.startsWith(LOGIN_PAGE)) void this.#logIn(request, response)
      else void forward(request, response)
    })
  }

  static async start(): Promise<LoginIssuer> {
    const authority = await makeAuthority('login-ca')
    const own = await issue('login-ca', authority, { user: 'login', names: LOOPBACK })
    const server = https.createServer({ cert: own.certificate, key: own.key })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new LoginIssuer(server, authority.certificate)
  }

  /** The number of browser logins. */
  get logins(): number {
    return this.#logins
  }

  /** How often tokens were issued, for a login or a refresh. */
  get tokens(): number {
    return this.#tokens
  }

  /** Returns an id token for the other client, without a login. */
  idToken(): string {
    const exp = Math.ceil(Date.now() / 1000) + 60
    const claims = { iss: this.url, aud: CLIENT, sub: 'first', exp }
    const parts = [LOGIN_KEY, claims].map((part) => Buffer.from(JSON.stringify(part)))
    const signed = parts.map((part) => part.toString('base64url')).join('.')
    return `${signed}.${sign('sha256', Buffer.from(signed), this.#key).toString('base64url')}`
  }

  async #logIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#logins += 1
    try {
      // Native applications require consent every time, since any program can claim to be one.
      const result = { login: { accountId: ACCOUNT }, consent: {} }
      await this.#provider.interactionFinished(request, response, result)
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
