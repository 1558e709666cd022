import { type IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type HandlerContext, handle } from './handle.ts'

/**
 * Handles an upgrade request in the same way as any other.
 *
 * Node passes the raw socket. If the upgrade is rejected or ignored, the response is written to that socket, and then
 * the connection is closed.
 */
export function answerUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  context: HandlerContext,
): void {
  if (!(socket instanceof Socket)) throw new TypeError('an upgrade must arrive on a TCP socket')
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
  handle({ request, response, upgrade: { head, take } }, context).catch(() => socket.destroy())
}
