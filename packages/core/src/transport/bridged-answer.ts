import { isUtf8 } from 'node:buffer'
import type { ServerResponse } from 'node:http'
import type { Incoming } from './exchange.ts'

/**
 * Sends an answer on to the client.
 *
 * @param cutOff Called when it breaks off, so that the client does not take what it has for all of it.
 */
export function sendAnswer(
  response: ServerResponse,
  incoming: Incoming,
  cutOff: (error: Error | undefined) => void,
): void {
  const { body } = incoming
  response.sendDate = false
  response.writeHead(incoming.statusCode, asBytes(incoming.statusText), endToEnd(incoming))
  // So that a watch without events yet is known to be open. `flushHeaders` would encode them a second time.
  response.write('', 'latin1')
  let failure: Error | undefined
  body.once('error', (error) => {
    failure = error
  })
  body.once('close', () => body.readableEnded || cutOff(failure))
  response.once('close', () => body.on('error', () => {}).destroy())
  body.pipe(response)
}

/** The beginning of an answer that hands the connection over, which Node's server leaves to us. */
export function answerHead(incoming: Incoming): string {
  const headers = { ...endToEnd(incoming), connection: 'Upgrade' }
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}\r\n`),
  )
  return `HTTP/1.1 ${incoming.statusCode} ${asBytes(incoming.statusText)}\r\n${lines.join('')}\r\n`
}

/** Between the server and us alone; a trailer is not passed on, so it must not be announced. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'proxy-connection',
  'trailer',
])

function endToEnd({ headers }: Incoming): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || HOP_BY_HOP.has(name)) continue
    kept[name] = typeof value === 'string' ? asBytes(value) : value.map(asBytes)
  }
  return kept
}

/**
 * A header's value with a character for each of its bytes, which is how Node writes headers.
 *
 * undici reads them as UTF-8, Node byte by byte. A warning of Kubernetes may hold any language.
 */
function asBytes(value: string): string {
  if (!/[^\t\x20-\x7e]/.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  const isBytes = bytes.toString('latin1') === value && isUtf8(bytes)
  return isBytes ? value : Buffer.from(value, 'utf8').toString('latin1')
}
