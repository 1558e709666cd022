import type { IncomingMessage } from 'node:http'
import { headerValues, type Upgrade } from '../server/exchange.ts'

const VERSION_HEADER = 'X-Stream-Protocol-Version'
const PREFERRED = 'v4.channel.k8s.io'

/**
 * Answers an upgrade to SPDY and echoes every byte.
 *
 * That is enough to test whether an upgrade gets through with its credential; SPDY framing is not implemented.
 */
export function echoSpdy(request: IncomingMessage, { head, take }: Upgrade): void {
  const offered = headerValues(request).get(VERSION_HEADER.toLowerCase()) ?? []
  const version = offered.includes(PREFERRED) ? PREFERRED : offered[0]
  const socket = take()
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    ...(version === undefined ? [] : [`${VERSION_HEADER}: ${version}`]),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  // Deno never ends an empty write, and later ones wait for it.
  if (head.length > 0) socket.write(head)
  socket.pipe(socket)
}
