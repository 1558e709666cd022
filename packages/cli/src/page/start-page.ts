import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import type { UnexpectedError } from 'kubecred/errors'
import { UsageError } from '../usage-error.ts'
import type { LiveState } from './live-state.ts'
import { PageConnections } from './page-connections.ts'
import { loadPageFiles } from './page-files.ts'
import { type PageRoutes, pageHandler } from './page-handler.ts'
import { PageSecret } from './page-secret.ts'

/** How long responses in progress may take when the page closes. */
const GRACE_MS = 250

/** Options of `startPage`. */
export interface PageOptions {
  readonly state: LiveState
  /** The port; 0 for any free one. */
  readonly port: number
  /** A loopback address; by default `127.0.0.1`. */
  readonly host?: '127.0.0.1' | '::1' | 'localhost'
  /** By default random. With the same port and secret, open pages reconnect after a restart. */
  readonly secret?: string
  /** Further resources that need the secret. */
  readonly routes?: PageRoutes
  /** Closes the page when it aborts. */
  readonly signal?: AbortSignal
  /** Called with internal errors; by default they are emitted as process warnings. */
  readonly onError?: (error: UnexpectedError) => void
}

/** A running page. */
export interface StartedPage {
  /** The URL to open, with the secret in its fragment. */
  readonly url: string
  /** The URL without the secret, such as `http://127.0.0.1:8002`. */
  readonly origin: string
  /** From now on, requests need another secret. */
  replaceSecret(secret: string): void
  close(): Promise<void>
}

/**
 * Serves the page on a loopback address, separate from the proxy.
 *
 * @throws {UsageError} If the port is not available or the secret is invalid.
 */
export async function startPage(options: PageOptions): Promise<StartedPage> {
  const { state, port, host = '127.0.0.1', routes = {}, signal, onError = warn } = options
  const secret = new PageSecret(options.secret)
  const files = await loadPageFiles()
  signal?.throwIfAborted()
  const server = createServer({
    maxHeaderSize: 8192,
    headersTimeout: 5000,
    requestTimeout: 10_000,
    keepAliveTimeout: 10_000,
    connectionsCheckingInterval: 1000,
  })
  const connections = new PageConnections(server)
  const ending = new AbortController()
  const address = host === '::1' ? host : '127.0.0.1'
  const actualPort = await listen(server, port, address)
  server.on(
    'request',
    pageHandler({
      state,
      secret,
      files,
      routes,
      port: actualPort,
      connections,
      ending: ending.signal,
      onError,
    }),
  )
  // Neither upgrades nor request bodies are supported.
  server.on('upgrade', (_request, socket) => socket.destroy())
  server.on('checkContinue', (request) => request.socket.destroy())
  const origin = `http://${host === '::1' ? '[::1]' : host}:${actualPort}`
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    closed ??= stop(server, ending)
    return closed
  }
  signal?.addEventListener('abort', () => void close(), { once: true })
  const replaceSecret = (given: string): void => secret.replace(given)
  return { url: `${origin}/#${secret.expose()}`, origin, replaceSecret, close }
}

function warn({ id, stack }: UnexpectedError): void {
  process.emitWarning(`internal error ${id}`, { code: id, detail: stack })
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, port)))
    server.listen({ port, host, exclusive: true }, resolve)
  })
  server.removeAllListeners('error')
  return (server.address() as AddressInfo).port
}

function explain(error: NodeJS.ErrnoException, port: number): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new UsageError(`port ${port} is already in use; choose another port`)
    case 'EACCES':
      return new UsageError(`port ${port} needs root; choose one above 1023`)
    case 'EADDRNOTAVAIL':
      return new UsageError('this machine has no such loopback address; use 127.0.0.1')
    default:
      return error
  }
}

async function stop(server: Server, ending: AbortController): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()))
  ending.abort()
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS)
  await ended
  clearTimeout(timer)
}
