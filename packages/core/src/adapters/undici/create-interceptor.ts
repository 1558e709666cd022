import { ForeignOriginError, NotSupportedError } from '../../errors/index.ts'
import type { ConnectionOwner } from '../../exchange/exchange.ts'
import type { Handler } from '../../exchange/handler.ts'
import { type HasLine, type Line, lineOf } from '../../request/line.ts'
import { DualHandler } from './cross-version-handler.ts'
import { dispatch, type UserConnections } from './dispatch.ts'
import type { DispatchOptions } from './dispatcher-options.ts'
import type { LegacyHandler } from './handlers.ts'

/** What `dispatcher.compose()` of every version takes. */
export type Interceptor = <Dispatch extends (options: never, handler: never) => boolean>(
  dispatch: Dispatch,
  origin?: string | null,
) => Dispatch

/**
 * Makes an interceptor that puts the credential of a cluster on requests over the user's own connections.
 *
 * Only for credentials that are a header (a token, basic): a certificate belongs to a connection, and
 * these are not ours. Compose it first, so that redirects and retries pass through it; and over an `Agent`, or
 * a `Pool` or `Client` of this cluster: one of another server leads there, whatever a request says.
 */
export function createInterceptor(cluster: HasLine): Interceptor {
  const line = lineOf(cluster, 'createInterceptor')
  return ((below: (options: DispatchOptions, handler: object) => boolean, fixed) => {
    const connections: UserConnections = {
      line,
      isForeign: true,
      check({ origin }) {
        line.checkOpen()
        checkOrigin(origin, fixed, line)
      },
      open(_, owner) {
        checkCertificate(owner)
        return {
          dispatch: (call, options, user) => void below(options, new DualHandler(call, user)),
        }
      },
      aborted,
      explain: (error) => error,
      // The line ends what is on its way.
      begin: () => () => {},
    }
    return (options: DispatchOptions, handler: Handler | LegacyHandler): boolean =>
      dispatch(options, handler, connections)
  }) as Interceptor
}

/** @throws {NotSupportedError} Nothing was sent: half an identity is another one. */
function checkCertificate({ credential }: ConnectionOwner): void {
  if (credential.certificate === undefined) return
  throw new NotSupportedError(
    'the credential has a client certificate, which an interceptor cannot put on a connection',
    { hint: 'Use createDispatcher(cluster, undici): its connections carry the certificate.' },
  )
}

/**
 * Where the request goes must be known; that it is right is then checked as for every request.
 *
 * @param fixed Where everything of this dispatcher goes, whatever a request says. Only undici 8 tells.
 * @throws {ForeignOriginError} Nothing was sent.
 */
function checkOrigin(
  origin: string | URL | undefined,
  fixed: string | null | undefined,
  { hasServerPerLogin, target }: Line,
): void {
  const meant = hasServerPerLogin && origin ? new URL(origin).origin : target.origin
  if (fixed && new URL(fixed).origin !== meant) {
    throw new ForeignOriginError(`${fixed} is not this cluster (${meant})`)
  }
  if (origin !== undefined && origin !== '') return
  throw new ForeignOriginError('the request does not say where it goes', {
    hint: 'Use an Agent in place of a Pool or Client, which do not tell where they lead.',
  })
}

/** As undici's own, which is not at hand here. */
function aborted(): Error {
  return Object.assign(new Error('Request aborted'), {
    name: 'AbortError',
    code: 'UND_ERR_ABORTED',
  })
}
