import process from 'node:process'
import { type AgentPlace, serveAgent } from 'kubecred/agent'

/**
 * Is the agent, in this process, until it ends. Returns why it did.
 *
 * @throws {AgentUnusableError}
 */
export async function serveHere(place: AgentPlace, signal: AbortSignal): Promise<string> {
  process.umask(0o077)
  // Node would open a debugger for whoever sends it, and a debugger shows all of the memory.
  process.on('SIGUSR1', () => {})
  // An unforeseen error may quote a secret: the agent ends without a word, and the next call starts another.
  process.on('uncaughtException', () => process.exit(70))
  process.on('unhandledRejection', () => process.exit(70))
  const served = await serveAgent(place)
  signal.addEventListener('abort', () => served.stop('a signal ended it'), { once: true })
  return served.ended
}
