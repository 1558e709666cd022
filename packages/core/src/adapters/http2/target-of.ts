import type { Target } from '../../dial/target.ts'
import { ForeignOriginError } from '../../errors/index.ts'
import type { HeaderValues } from '../../exchange/exchange.ts'
import type { Line } from '../../request/line.ts'
import type { RequestTarget } from '../../request/request-target.ts'
import { pseudo } from './outgoing-http2.ts'

/**
 * Finds where the headers of a request lead.
 *
 * Where logins name several servers, it is the one that the headers name, or any.
 *
 * @throws {ForeignOriginError} Nothing was sent.
 */
export function targetOf(headers: HeaderValues, line: Line): RequestTarget {
  const found = line.find(pseudo(headers, ':path') ?? '/')
  const named = namedOrigins(headers, line.target)
  const meant = line.isOpenEnded ? (found.origin ?? named[0]) : line.target.origin
  for (const each of named) if (each !== meant) throw foreign(each, line.target)
  return line.isOpenEnded && meant !== undefined ? { ...found, origin: meant } : found
}

/** The server, as often as the headers name it. */
function namedOrigins(headers: HeaderValues, target: Target): readonly string[] {
  const { protocol, host } = new URL(target.origin)
  const { ':scheme': scheme, ':authority': authority, host: other } = headers
  const named = [authority, other].filter((each) => each !== undefined)
  if (named.length === 0 && scheme !== undefined) named.push(host)
  return named.map((each) => {
    const asked = `${scheme ?? protocol.slice(0, -1)}://${each}`
    // The default port may be written or not.
    if (URL.canParse(asked)) return new URL(asked).origin
    throw foreign(asked, target)
  })
}

function foreign(asked: string, { origin }: Target): ForeignOriginError {
  return new ForeignOriginError(`${asked} is not this cluster (${origin})`, {
    hint: 'Leave :scheme, :authority and host out: the client knows its cluster.',
  })
}
