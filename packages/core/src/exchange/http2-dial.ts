import type { TLSSocket } from 'node:tls'
import { dial } from '../dial/dialer.ts'
import { RUNTIME } from '../dial/runtime.ts'
import type { Target } from '../dial/target.ts'
import { NotSupportedError } from '../errors/index.ts'
import type { CertificatePair } from '../protocol/credential.ts'
import { Http2Connection, type Http2Times } from './http2-connection.ts'

export interface Http2DialOptions {
  readonly times: Http2Times
  readonly signal: AbortSignal
  /** Called when a stream or the connection has ended. */
  readonly onChange: () => void
}

/**
 * Opens one HTTP/2 connection; resolves when requests can be sent on it.
 *
 * @throws {NotSupportedError} The server does not speak HTTP/2.
 */
export async function dialHttp2(
  target: Target,
  certificate: CertificatePair | undefined,
  { times, signal, onChange }: Http2DialOptions,
): Promise<Http2Connection> {
  if (RUNTIME === 'Deno') {
    // Its session cannot use a connection that exists, and its errors end the process.
    throw new NotSupportedError('HTTP/2 does not work under Deno', { hint: HINT })
  }
  if (!target.origin.startsWith('https:')) throw notSpoken(target, 'it is offered by TLS only')
  // Found out before anything is signed: a signature may cost a person's time.
  const checkFirst = (socket: TLSSocket): void => {
    if (socket.alpnProtocol !== 'h2') throw notSpoken(target, REFUSED)
  }
  const options = { signal, protocols: ['h2'], beforeSigning: checkFirst }
  const socket = await dial(target, certificate, options).catch((error: unknown) => {
    const { code = '' } = (error ?? {}) as { code?: string }
    throw code.includes('NO_APPLICATION_PROTOCOL') ? notSpoken(target, REFUSED, error) : error
  })
  if ((socket as TLSSocket).alpnProtocol !== 'h2') {
    socket.destroy()
    throw notSpoken(target, REFUSED)
  }
  const connection = new Http2Connection(target.origin, socket, times, onChange)
  await connection.greeted(times.openMs, signal)
  if (!connection.isUsable) throw connection.error
  return connection
}

const HINT = "Leave transport: 'http2' out: the other transports speak HTTP/1.1."
const REFUSED = 'the server did not choose it in the TLS handshake'

function notSpoken({ origin }: Target, why: string, cause?: unknown): NotSupportedError {
  return new NotSupportedError(`${origin} does not speak HTTP/2: ${why}`, {
    hint: HINT,
    ...(cause !== undefined && { cause }),
  })
}
