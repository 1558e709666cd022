import { ForeignOriginError } from '../../errors/index.ts'
import type { HeaderValues } from '../../transport/default-headers.ts'
import type { Line } from '../../transport/line.ts'
import type { Aim } from '../../transport/servers.ts'
import type { Target } from '../../transport/target.ts'
import { pseudo } from './outgoing-http2.ts'

/**
 * Finds where the headers of a request lead.
 *
 * Where logins name several servers, it is the one that the headers name, or any.
 *
 * @throws {ForeignOriginError} Nothing was sent.
 */
export function aimOf(headers: HeaderValues, line: Line): Aim {
  const { place, wish } = line.find(pseudo(headers, ':path') ?? '/')
  const named = namedOrigins(headers, line.target)
  const meant = line.isOpenEnded ? (wish?.origin ?? named[0]) : line.target.origin
  for (const each of named) if (each !== meant) throw foreign(each, line.target)
  return line.isOpenEnded && meant !== undefined ? { place, wish: { origin: meant } } : { place }
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
