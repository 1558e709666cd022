import type { OutgoingHttpHeader } from 'node:http'
import { asBytes } from '../bridge/answer.ts'
import type { Incoming } from '../request/incoming.ts'

/** Headers of an answer that the client does not get. */
const REMOVED = new Set([
  // Between the server and us.
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // They would tell a browser something about our own address, which is not the server's to say.
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
  'public-key-pins',
  'alt-svc',
  'clear-site-data',
  'service-worker-allowed',
  // Ours instead.
  'x-content-type-options',
])

const POLICY = 'content-security-policy'

/**
 * What the client gets of an answer's headers: names and values in turns.
 *
 * A page that comes through the proxy, as by the `proxy` subresource of a service, has the proxy's origin. In a
 * sandbox it has none, runs no script and sends no form.
 */
export function answerHeaders({
  statusCode,
  headers,
}: Pick<Incoming, 'statusCode' | 'headers'>): OutgoingHttpHeader[] {
  const kept: OutgoingHttpHeader[] = []
  const named = namedBy(headers['connection'])
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || REMOVED.has(name) || named?.has(name)) continue
    if (name.startsWith('access-control-') || name === POLICY) continue
    kept.push(name, typeof value === 'string' ? asBytes(value) : value.map(asBytes))
  }
  const protocol = headers['upgrade']
  if (statusCode === 101 && protocol !== undefined) kept.push('upgrade', protocol)
  // Several policies hold together, so that the server's own cannot loosen ours.
  const policies = headers[POLICY]
  kept.push(POLICY, policies === undefined ? 'sandbox' : [...[policies].flat(), 'sandbox'])
  kept.push('x-content-type-options', 'nosniff')
  return kept
}

/** What `Connection` says is for us alone, but not what the length of the body depends on. */
function namedBy(connection: string | string[] | undefined): Set<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return
  const names = [connection].flat().join(',').toLowerCase().split(',')
  const named = new Set(names.map((name) => name.trim()))
  named.delete('content-length')
  return named
}
