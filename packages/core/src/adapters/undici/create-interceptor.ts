import { ForeignOriginError, NotSupportedError } from '../../errors/index.ts'
import type { ConnectionOwner } from '../../exchange/exchange.ts'
import type { Handler } from '../../exchange/handler.ts'
import { requireAbility } from '../../node/runtime.ts'
import { type HasLine, type Line, lineOf } from '../../request/line.ts'
import { CrossVersionHandler } from './cross-version-handler.ts'
import { dispatch, type UserConnections } from './dispatch.ts'
import type { DispatchOptions } from './dispatcher-options.ts'
import type { LegacyHandler } from './handlers.ts'

/** An interceptor for `dispatcher.compose()` of every version of undici. */
export type Interceptor = <Dispatch extends (options: never, handler: never) => boolean>(
  dispatch: Dispatch,
  origin?: string | null,
) => Dispatch

/**
 * Makes an interceptor that adds the cluster's credential to requests over your own connections.
 *
 * Only for credentials that are a header (a token, or a user name and password): a certificate belongs to a connection,
 * and these are not ours. Compose it first, so that redirects and retries pass through it. Compose it over an `Agent`, or
 * a `Pool` or `Client` of this cluster: a pool of another server always sends there, whatever the request says.
 *
 * @throws {TypeError} If `cluster` is not a `Cluster`.
 * @throws {NotSupportedError} `ERR_NOT_SUPPORTED` under Bun.
 *
 * @example
 * import { connect } from 'kubecred'
 * import { createInterceptor } from 'kubecred/undici'
 * import { Agent } from 'undici'
 *
 * const cluster = await connect()
 * const { ca } = await cluster.tlsOptions()
 * const dispatcher = new Agent({ connect: { ca } }).compose(createInterceptor(cluster))
 */
export function createInterceptor(cluster: HasLine): Interceptor {
  const line = lineOf(cluster, 'createInterceptor')
  requireAbility('undici')
  return ((next: (options: DispatchOptions, handler: object) => boolean, fixedOrigin) => {
    const connections: UserConnections = {
      line,
      isUserOwned: true,
      check({ origin }) {
        line.checkOpen()
        checkOrigin(origin, fixedOrigin, line)
      },
      open(_, owner) {
        checkCertificate(owner)
        return {
          dispatch: (call, options, user) =>
            void next(options, new CrossVersionHandler(call, user)),
        }
      },
      aborted,
      explain: (error) => error,
      // The line ends requests in flight.
      begin: () => () => {},
    }
    return (options: DispatchOptions, handler: Handler | LegacyHandler): boolean =>
      dispatch(options, handler, connections)
  }) as Interceptor
}

/** @throws {NotSupportedError} `ERR_NOT_SUPPORTED`; nothing was sent, because half an identity would be another one. */
function checkCertificate({ credential }: ConnectionOwner): void {
  if (credential.certificate === undefined) return
  throw new NotSupportedError(
    'the credential has a client certificate, which an interceptor cannot add to a connection',
    { hint: 'Use createDispatcher(cluster, undici): its connections use the certificate.' },
  )
}

/**
 * Checks that the origin of a request is known. Whether it is the cluster's is checked later, as for every request.
 *
 * @param fixedOrigin The origin of a Pool or Client, where all its requests go. Only undici 8 passes it.
 * @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN`; nothing was sent.
 */
function checkOrigin(
  origin: string | URL | undefined,
  fixedOrigin: string | null | undefined,
  { hasServerPerLogin, target }: Line,
): void {
  const expected = hasServerPerLogin && origin ? new URL(origin).origin : target.origin
  if (fixedOrigin && new URL(fixedOrigin).origin !== expected) {
    throw new ForeignOriginError(`${fixedOrigin} is not this cluster (${expected})`)
  }
  if (origin !== undefined && origin !== '') return
  throw new ForeignOriginError('the server of the request is not known', {
    hint: 'Use an Agent instead of a Pool or Client, which do not report their server.',
  })
}

/** Makes the same error as undici, whose class is not available here. */
function aborted(): Error {
  return Object.assign(new Error('Request aborted'), {
    name: 'AbortError',
    code: 'UND_ERR_ABORTED',
  })
}
