import type { Io } from '../command.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Refuses to work for a client that started us as its credential plugin.
 *
 * Its policy allowed us, not the plugins and commands that we would start: arguments and variables come from the
 * kubeconfig that the policy is to guard against. `kubecred-token` is made for it, and asks the policy itself.
 *
 * @throws {UsageError}
 */
export function refuseAsPlugin({ env }: Pick<Io, 'env'>, command: string): void {
  if (env['KUBERNETES_EXEC_INFO'] === undefined) return
  throw new UsageError(
    `${command} does not work as a credential plugin (KUBERNETES_EXEC_INFO is set): it would go round the plugin policy of the client that started it; use kubecred-token`,
    command,
  )
}
