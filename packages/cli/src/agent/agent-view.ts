import process from 'node:process'
import { isCredentialError } from 'kubecred/errors'
import { type Environment, type ExecContext, execContexts } from 'kubecred/internal'
import type { ContextStatus } from '../render/status-table.ts'
import { withFlagNames } from '../render/with-flag-names.ts'
import { makeRequest } from '../token-program/make-request.ts'
import { readArguments } from '../token-program/read-arguments.ts'
import { isWrapped } from '../wrap/plan.ts'
import { type AgentPaths, agentPaths } from './agent-paths.ts'
import { askAgent } from './ask-agent.ts'
import type { EntryStatus, GetRequest } from './protocol.ts'

/** What the agent knows about a context, as `status` shows it. */
export type SeenByAgent = Pick<ContextStatus, 'state'> & Partial<ContextStatus>

/**
 * Asks a running agent about each context that uses kubecred-token. Starts no agent and runs no plugin.
 *
 * The lookup uses the current folder and this environment, as a client started here would.
 */
export async function agentView(
  options: { readonly kubeconfig?: string | undefined; readonly env: Environment },
  now: number,
): Promise<ReadonlyMap<string, SeenByAgent>> {
  const seen = new Map<string, SeenByAgent>()
  try {
    const paths = agentPaths(options.env)
    for (const wrapped of await execContexts(options, isWrapped)) {
      const entry = await lookFor(wrapped, paths, options.env)
      const row = entry && describeEntry(entry, now)
      if (row !== undefined) seen.set(wrapped.context, row)
    }
  } catch (error) {
    // Without an agent there is nothing to add; errors in the files are already in the other columns.
    if (!isCredentialError(error)) throw error
  }
  return seen
}

async function lookFor(
  { args, env: own }: ExecContext,
  paths: AgentPaths,
  env: Environment,
): Promise<EntryStatus | undefined> {
  const request = await requestFor(args, { ...env, ...own })
  if (request === undefined) return undefined
  // An agent that cannot be asked about one context cannot be asked about the others.
  const answer = await askAgent(paths, { ...request, do: 'look' })
  return typeof answer === 'object' && answer.is === 'seen' ? answer.entry : undefined
}

/** Returns undefined if kubecred-token would refuse these arguments. */
async function requestFor(
  args: readonly string[],
  env: Environment,
): Promise<GetRequest | undefined> {
  try {
    return await makeRequest(readArguments(args), {
      env,
      cwd: process.cwd(),
      parent: process.pid,
      own: process.execPath,
      isTerminal: async () => false,
      yieldTerminal: () => {},
      writeLine: () => {},
      passStderr: () => {},
    })
  } catch {
    return undefined
  }
}

function describeEntry(entry: EntryStatus, now: number): SeenByAgent | undefined {
  const { state, expiresAt, lastRunAt, lastRunMs, lastError } = entry
  const ran = {
    ...(lastRunAt !== undefined && { ranAt: lastRunAt }),
    ...(lastRunMs !== undefined && { tookMs: lastRunMs }),
  }
  if (state === 'failed' && lastError !== undefined) {
    return {
      state: 'invalid',
      ...ran,
      problem: { message: lastError.message, hint: withFlagNames(lastError.hint) },
      ...(lastError.loginCommand !== undefined && { loginCommand: lastError.loginCommand }),
    }
  }
  if (state !== 'ready' && state !== 'refused') return undefined
  if (expiresAt === undefined) return { state: 'unchecked', ...ran }
  return { state: expiresAt <= now ? 'expired' : 'valid', ...ran, expiresAt }
}
