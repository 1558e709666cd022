import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { Server as TlsServer } from 'node:tls'
import { UsageError } from '../usage-error.ts'
import { hostAt } from './address.ts'
import type { Place } from './read-settings.ts'
import { claimSocketPath } from './unix-socket.ts'

/** Where a server listens, once it does. */
export type Listening =
  | { readonly kind: 'port'; readonly address: string; readonly port: number; readonly url: string }
  | { readonly kind: 'socket'; readonly path: string }

/**
 * Makes a server listen.
 *
 * @throws {UsageError} Says why it cannot, and what else to try.
 */
export async function listen(server: Server, place: Place): Promise<Listening> {
  if (place.kind === 'socket') {
    const path = await claimSocketPath(place.path)
    // The socket is ours alone from its first moment on.
    const before = process.umask(0o177)
    try {
      server.listen(path)
    } finally {
      process.umask(before)
    }
    await listening(server, place)
    return { kind: 'socket', path }
  }
  const { address } = place
  server.listen({ port: place.port, host: address, exclusive: true })
  await listening(server, place)
  const { port } = server.address() as AddressInfo
  const scheme = server instanceof TlsServer ? 'https' : 'http'
  return { kind: 'port', address, port, url: `${scheme}://${hostAt(address, port)}` }
}

async function listening(server: Server, place: Place): Promise<void> {
  try {
    await once(server, 'listening')
  } catch (error) {
    throw explain(error as NodeJS.ErrnoException, place)
  }
}

function explain(error: NodeJS.ErrnoException, place: Place): Error {
  if (place.kind === 'socket') {
    return new UsageError(`cannot listen at ${JSON.stringify(place.path)}: ${error.message}`)
  }
  const { address, port } = place
  switch (error.code) {
    case 'EADDRINUSE':
      return new UsageError(
        `port ${port} is taken by another program; name another with --port, or 0 for any that is free`,
      )
    case 'EACCES':
      return new UsageError(
        `port ${port} is not for ordinary users; name one above 1023 with --port`,
      )
    case 'EADDRNOTAVAIL':
      return new UsageError(`this machine does not have the address ${address}`)
    default:
      return error
  }
}
