import type { Io } from '../command.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Rejects a command that a client started as its credential plugin.
 *
 * The policy of the client allowed this program, not the plugins and commands that it would start: arguments and
 * variables come from the kubeconfig that the policy guards against. `kubecred-token` applies the policy itself.
 *
 * @throws {UsageError}
 */
export function refuseAsPlugin({ env }: Pick<Io, 'env'>, command: string): void {
  if (env['KUBERNETES_EXEC_INFO'] === undefined) return
  throw new UsageError(
    `${command} cannot run as a credential plugin (KUBERNETES_EXEC_INFO is set), because that would bypass the plugin policy of the client; use kubecred-token`,
    command,
  )
}
