import type { Connection } from '../kubeconfig/connection.ts'
import type { ConnectionFields } from '../vault/connection-fields.ts'
import { ConnectionInfo } from '../vault/connection-info.ts'
import type { LoginContext } from '../vault/login-handler.ts'

/** What a ready-made login receives: at least a signal, the rest if a login handler passes its context on. */
export type LoginMethodContext = Pick<LoginContext, 'signal'> & Partial<LoginContext>

type Returned = ConnectionInfo | ConnectionFields | undefined

/**
 * A login function for use in login handlers, alone or in sequence with others.
 *
 * It returns undefined if it does not apply, so that a handler can try the next one, and throws if it applies and fails.
 * It stops when `context.signal` is aborted and keeps no state between calls.
 *
 * @example
 * export const loginViaCorp: LoginMethod<CorpOptions> = async ({ signal }, { account } = {}) => {
 *   if (account === undefined) return undefined
 *   const { server, token, expiration } = await askCorp(account, { signal })
 *   return { server, token, expiration }
 * }
 */
export type LoginMethod<Options extends object = object> = (
  context: LoginMethodContext,
  options?: Options,
) => Returned | Promise<Returned>

/** Options that every ready-made login takes. */
export interface LoginMethodOptions {
  /** Larger is preferred. */
  readonly priority?: number | undefined
  /** Whether HTTPS_PROXY, HTTP_PROXY and NO_PROXY are used; true by default. */
  readonly trustEnv?: boolean | undefined
}

/** Wraps a connection as a login. Its warnings are logged once, at the first login. */
export function toConnectionInfo(
  connection: Connection,
  { signal, logger, reason = 'first' }: LoginMethodContext,
  { priority, trustEnv = true }: LoginMethodOptions & { readonly priority: number },
): ConnectionInfo {
  signal.throwIfAborted()
  if (reason === 'first') for (const warning of connection.warnings) logger?.warn(warning)
  return new ConnectionInfo({
    connection,
    priority,
    expiresAt: Number.POSITIVE_INFINITY,
    trustEnv,
    scheme: undefined,
  })
}
