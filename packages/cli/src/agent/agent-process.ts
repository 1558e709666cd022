import { writeSync } from 'node:fs'
import process from 'node:process'
import { describeUnexpected } from 'kubecred/errors'
import { EXIT } from '../exit-status.ts'
import { printable } from '../render/printable.ts'
import type { AgentPaths } from './agent-paths.ts'
import { closeInherited } from './close-inherited.ts'
import { serveAgent } from './serve-agent.ts'

/**
 * Runs the agent in this process until it ends, and returns the reason.
 *
 * @param timeoutMs Time limit of plugins for requests that do not set one.
 * @throws {AgentUnusableError}
 */
export async function runAgentProcess(
  paths: AgentPaths,
  signal: AbortSignal,
  timeoutMs: number | undefined,
): Promise<string> {
  closeInherited()
  process.umask(0o077)
  // By default Node opens a debugger on SIGUSR1, and a debugger can read all of the memory.
  process.on('SIGUSR1', () => {})
  // It would end the process.
  process.on('SIGUSR2', () => {})
  // Node would print the error as it is, and it may contain a secret. The next request starts another agent.
  process.on('uncaughtException', end)
  process.on('unhandledRejection', end)
  const served = await serveAgent(paths, {
    ...(timeoutMs !== undefined && { limits: { timeoutMs, interactiveTimeoutMs: timeoutMs } }),
  })
  signal.addEventListener('abort', () => served.stop('it received a signal'), { once: true })
  return served.ended
}

/** Writes synchronously: the process exits before a stream would have been flushed. */
function end(error: unknown): never {
  const { id, stack } = describeUnexpected(error)
  try {
    writeSync(2, `kubecred: internal error ${id}: ${printable(stack)}\n`)
  } catch {
    // A background process may have no standard error; the exit status remains.
  }
  return process.exit(EXIT.unexpected)
}
