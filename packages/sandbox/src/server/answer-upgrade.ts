import { type IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Handling, handle } from './handle.ts'

/**
 * Takes a request that asks for another protocol through the same steps as every other.
 *
 * Node hands out the bare socket, so the answer to a refusal, or to a request whose wish is ignored,
 * is put on it by hand; then the connection ends.
 */
export function answerUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  handling: Handling,
): void {
  if (!(socket instanceof Socket)) throw new TypeError('a server of TCP connections has sockets')
  socket.on('error', () => socket.destroy())
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.end())
  const take = (): Duplex => {
    response.detachSocket(socket)
    response.statusCode = 101
    return socket
  }
  handle({ request, response, upgrade: { head, take } }, handling).catch(() => socket.destroy())
}
