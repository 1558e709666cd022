import { X509Certificate } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket, TlsOptions } from 'node:tls'
import type { CertificatePair } from '../../src/credential/credential.ts'
import type { SigningKey } from '../../src/credential/signing-key.ts'
import type { ProxyServer } from '../../src/dial/proxy.ts'
import { makeTarget, type Target } from '../../src/dial/target.ts'
import type { Identity } from '../tls/identities.ts'
import { authority, jane, server } from '../tls/tls-server.ts'

/** Returns a certificate with a signing key. */
export function signedPair(signingKey: SigningKey, { chain }: Identity = jane): CertificatePair {
  const { validFrom, validTo } = new X509Certificate(chain)
  return {
    chain,
    notBefore: Date.parse(validFrom),
    notAfter: Date.parse(validTo),
    signingKey,
    signingKeyId: 'a test',
  }
}

/** The target for a local server with a certificate of the test CA. */
export function targetAt(port: number, proxy?: ProxyServer): Target {
  const tls = { ca: authority.ca, serverName: 'localhost', insecure: false }
  return makeTarget(`https://127.0.0.1:${port}`, tls, proxy)
}

export interface ApiServer extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** For each request: the CN of the client certificate, the Authorization header, the HTTP version. */
  readonly requests: { user: string | undefined; authorization: string | undefined; http: string }[]
}

/** Starts a server for HTTP/1.1 and HTTP/2 that responds to every request with `ok`. */
export async function startApi(options: TlsOptions = {}): Promise<ApiServer> {
  const tls = { requestCert: true, rejectUnauthorized: true, ca: authority.ca }
  const sockets = new Set<Socket>()
  const requests: ApiServer['requests'] = []
  const listening: Http2SecureServer = createSecureServer(
    { cert: server.chain, key: server.key, allowHTTP1: true, ...tls, ...options },
    (request, response) => {
      const socket = (request.stream?.session?.socket ?? request.socket) as TLSSocket
      const { authorization } = request.headers
      const user = socket.getPeerCertificate().subject?.CN?.toString()
      requests.push({ user, authorization, http: request.httpVersion })
      response.end('ok')
    },
  )
  // Node only reports a handshake timeout; the listener must close the socket.
  listening.on('tlsClientError', (_, socket) => socket.destroy())
  listening.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  })
  listening.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo
  return {
    port,
    url: `https://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      listening.close()
      for (const socket of sockets) socket.destroy()
      await once(listening, 'close')
    },
  }
}

/** Records the sockets that this process opens, so that a test can wait until the peer has closed one. */
export class Opened implements Disposable {
  readonly sockets: Socket[] = []
  readonly #add = (message: unknown): void => {
    this.sockets.push((message as { readonly socket: Socket }).socket)
  }

  constructor() {
    subscribe('net.client.socket', this.#add)
  }

  /** Resolves when the peer of the socket with this index has closed. */
  async isLeft(at: number): Promise<void> {
    const socket = this.sockets.at(at)
    if (socket === undefined) throw new Error('no connection was opened')
    if (socket.readableEnded || socket.destroyed) return
    await new Promise<void>((resolve) => {
      for (const event of ['end', 'close']) socket.once(event, () => resolve())
    })
  }

  [Symbol.dispose](): void {
    unsubscribe('net.client.socket', this.#add)
  }
}
