import type { Connection } from '../kubeconfig/connection.ts'
import type { ConnectionFields } from '../vault/connection-fields.ts'
import { ConnectionInfo } from '../vault/connection-info.ts'
import type { LoginContext } from '../vault/login-handler.ts'

/** What a ready-made login receives: at least a signal; the rest if a handler passes its context on. */
export type LoginMethodContext = Pick<LoginContext, 'signal'> & Partial<LoginContext>

type Returned = ConnectionInfo | ConnectionFields | undefined

/**
 * A login that others can use in their handlers, alone or one after the other.
 *
 * It returns nothing where it does not apply, so that the next one can be asked; it throws where it does apply
 * and something is wrong. It stops when `context.signal` says so, and keeps nothing from one call to the next.
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
  /** Whether HTTPS_PROXY and its kin count; true by default. */
  readonly trustEnv?: boolean | undefined
}

/** Makes a login of a connection. Its warnings are logged once, at the first login. */
export function infoOf(
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
