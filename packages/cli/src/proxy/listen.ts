import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { Server as TlsServer } from 'node:tls'
import { UsageError } from '../usage-error.ts'
import { hostAt } from './address.ts'
import type { ListenAddress } from './read-settings.ts'
import { claimSocketPath } from './unix-socket.ts'

/** Where a server listens. */
export type Listening =
  | { readonly kind: 'port'; readonly address: string; readonly port: number; readonly url: string }
  | { readonly kind: 'socket'; readonly path: string }

/**
 * Starts listening.
 *
 * @throws {UsageError} If it cannot; the message says why and what to try.
 */
export async function listen(server: Server, listenAddress: ListenAddress): Promise<Listening> {
  if (listenAddress.kind === 'socket') {
    const path = await claimSocketPath(listenAddress.path)
    // With a umask, so that the socket is never accessible to other users.
    const before = process.umask(0o177)
    try {
      server.listen(path)
    } finally {
      process.umask(before)
    }
    await listening(server, listenAddress)
    return { kind: 'socket', path }
  }
  const { address } = listenAddress
  server.listen({ port: listenAddress.port, host: address, exclusive: true })
  await listening(server, listenAddress)
  const { port } = server.address() as AddressInfo
  const scheme = server instanceof TlsServer ? 'https' : 'http'
  return { kind: 'port', address, port, url: `${scheme}://${hostAt(address, port)}` }
}

async function listening(server: Server, listenAddress: ListenAddress): Promise<void> {
  try {
    await once(server, 'listening')
  } catch (error) {
    throw explain(error as NodeJS.ErrnoException, listenAddress)
  }
}

function explain(error: NodeJS.ErrnoException, listenAddress: ListenAddress): Error {
  if (listenAddress.kind === 'socket') {
    return new UsageError(
      `cannot listen on ${JSON.stringify(listenAddress.path)}: ${error.message}`,
    )
  }
  const { address, port } = listenAddress
  switch (error.code) {
    case 'EADDRINUSE':
      return new UsageError(
        `port ${port} is already in use; choose another with --port, or 0 for any free port`,
      )
    case 'EACCES':
      return new UsageError(`port ${port} needs root; choose one above 1023 with --port`)
    case 'EADDRNOTAVAIL':
      return new UsageError(`this machine does not have the address ${address}`)
    default:
      return error
  }
}
