import { once } from 'node:events'
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net'
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls'
import { vi } from 'vitest'
import type { SigningKey } from '../../src/credential/signing-key.ts'
import { connectSigned, type SignedTlsOptions } from '../../src/tls/connect-signed.ts'
import { type Identity, makeAuthority } from './identities.ts'
import { softwareKey } from './software-key.ts'

/** The CA of the servers and clients of a test file. */
export const authority = await makeAuthority()
export const jane = await authority.client('P-256')
export const server = await authority.server('P-256')

export interface Listening extends AsyncDisposable {
  readonly port: number
  readonly server: Server
  /** The connections whose handshake is complete. */
  readonly seen: TLSSocket[]
  /** The alerts or errors of handshakes that failed. */
  readonly failures: string[]
}

/** Starts a TLS server that requires a valid client certificate, and echoes what it receives by default. */
export async function startServer(
  options: TlsOptions = {},
  onConnection: (socket: TLSSocket) => void = (socket) => socket.pipe(socket),
): Promise<Listening> {
  const seen: TLSSocket[] = []
  const sockets = new Set<Socket>()
  const failures: string[] = []
  const tls = { requestCert: true, rejectUnauthorized: true, ca: authority.ca }
  const listening = createServer({ cert: server.chain, key: server.key, ...tls, ...options })
  listening
    .on('secureConnection', (socket) => {
      seen.push(socket)
      socket.on('error', () => {})
      onConnection(socket)
    })
    .on('tlsClientError', (error: NodeJS.ErrnoException) => failures.push(alertOf(error)))
    .on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    })
    .listen(0, '127.0.0.1')
  await once(listening, 'listening')
  return {
    port: (listening.address() as AddressInfo).port,
    server: listening,
    seen,
    failures,
    async [Symbol.asyncDispose]() {
      listening.close()
      for (const socket of sockets) socket.destroy()
      await once(listening, 'close')
    },
  }
}

/** The name of the alert; its prefix differs between versions of OpenSSL. */
function alertOf({ code = '', message }: NodeJS.ErrnoException): string {
  return /ALERT_(.*)/.exec(code)?.[1] ?? message
}

export interface DialingOptions extends Partial<Omit<SignedTlsOptions, 'signingKey'>> {
  readonly identity?: Identity
  readonly signingKey?: SigningKey
}

/** Opens a signed connection to a local server, as `localhost`. */
export async function dialSigned(port: number, options: DialingOptions = {}): Promise<TLSSocket> {
  const { identity = jane, socket = await openTcp(port), tls, ...rest } = options
  return connectSigned({
    chain: identity.chain,
    signingKey: softwareKey(identity.key),
    ...rest,
    socket,
    tls: { ca: authority.ca, servername: 'localhost', ...tls },
  })
}

export async function openTcp(port: number): Promise<Socket> {
  const socket = connectTcp(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** Returns the reason that a promise is rejected with. */
export async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => {
      throw new Error(`did not fail, but resolved with ${String(value)}`)
    },
    (error: unknown) => error,
  )
}

/** Sends a text and waits for its echo. */
export async function echo(socket: TLSSocket, text: string): Promise<string> {
  socket.write(text)
  let got = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    got += chunk
    if (got.length >= text.length) break
  }
  return got
}

/** A promise with its resolve function; Node 20 has no `Promise.withResolvers`. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Waits until a check passes, with time for slow machines. */
export function eventually(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 20_000 })
}
