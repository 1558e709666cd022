import type { Io } from '../command.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Refuses to start commands for a client that started us as its credential plugin.
 *
 * Its policy allowed us, not them.
 *
 * @throws {UsageError}
 */
export function refuseAsPlugin({ env }: Pick<Io, 'env'>, command: string): void {
  if (env['KUBERNETES_EXEC_INFO'] === undefined) return
  throw new UsageError(
    `${command} does not work as a credential plugin (KUBERNETES_EXEC_INFO is set): it would go round the plugin policy of the client that started it`,
    command,
  )
}
