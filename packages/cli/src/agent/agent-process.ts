import { writeSync } from 'node:fs'
import process from 'node:process'
import { describeUnexpected } from 'kubecred/errors'
import { EXIT } from '../exit-status.ts'
import { printable } from '../render/printable.ts'
import type { AgentPlace } from './agent-paths.ts'
import { closeInherited } from './close-inherited.ts'
import { serveAgent } from './serve-agent.ts'

/**
 * Is the agent, in this process, until it ends. Returns why it did.
 *
 * @param timeoutMs How long plugins may take whose clients do not say.
 * @throws {AgentUnusableError}
 */
export async function serveHere(
  place: AgentPlace,
  signal: AbortSignal,
  timeoutMs: number | undefined,
): Promise<string> {
  closeInherited()
  process.umask(0o077)
  // Node would open a debugger for whoever sends it, and a debugger shows all of the memory.
  process.on('SIGUSR1', () => {})
  // It means nothing to us, and would end the process.
  process.on('SIGUSR2', () => {})
  // Node would write it as it is, and it may quote a secret. The next call starts another agent.
  process.on('uncaughtException', end)
  process.on('unhandledRejection', end)
  const served = await serveAgent(place, {
    ...(timeoutMs !== undefined && { limits: { timeoutMs, interactiveTimeoutMs: timeoutMs } }),
  })
  signal.addEventListener('abort', () => served.stop('a signal ended it'), { once: true })
  return served.ended
}

/** Synchronously: the process ends before a stream would have written it. */
function end(error: unknown): never {
  const { id, stack } = describeUnexpected(error)
  try {
    writeSync(2, `kubecred: internal error ${id}: ${printable(stack)}\n`)
  } catch {
    // In the background there may be no standard error; the exit status is all that is left.
  }
  return process.exit(EXIT.unexpected)
}
