import { AgentUnusableError } from 'kubecred/internal'
import { type AgentPaths, agentPaths } from '../agent/agent-paths.ts'
import { askAgent } from '../agent/ask-agent.ts'
import type { AgentStatus, PlainRequest } from '../agent/protocol.ts'
import type { Call, Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { pluginPolicy } from '../flags/plugin-policy.ts'
import { wantsJson } from '../flags/wants-json.ts'
import { agentTable } from '../render/agent-table.ts'
import { printableJson } from '../render/printable.ts'
import { UsageError } from '../usage-error.ts'

/** `agent`: starts, shows, empties, locks or stops the process that keeps credentials for kubecred-token. */
export const agent: Run = async (call) => {
  const [action = 'status'] = call.args
  const known = ACTIONS[action]
  if (known !== undefined) return known(call, agentPaths(call.io.env))
  const names = 'start, status, forget, lock, stop'
  throw new UsageError(`agent takes one of ${names}, not ${JSON.stringify(action)}`, 'agent')
}

type Action = (call: Call, paths: AgentPaths) => Promise<number>

const ACTIONS: Readonly<Record<string, Action>> = {
  async start(call, paths) {
    const { io, stderr, progress } = call
    const { startAgent } = await import('../agent/start-agent.ts')
    progress.begin('the agent to start')
    await startAgent(paths, io.env, timeoutOf(call))
    // An agent that was running may be locked.
    await send(paths, 'unlock')
    stderr.line(`The agent is listening on ${paths.socket}.`)
    return EXIT.done
  },
  async status({ io, flags, progress }, paths) {
    const isJson = wantsJson(flags)
    progress.begin('the agent')
    const status = await lookAt(paths)
    progress.end()
    if (isJson)
      io.stdout.write(printableJson(`${JSON.stringify(status ?? { isRunning: false })}\n`))
    else io.stdout.write(agentTable(status, io.now()))
    return EXIT.done
  },
  forget: simple('forget', 'The agent has dropped all credentials.'),
  lock: simple(
    'lock',
    'The agent has dropped all credentials and is locked; kubecred agent start unlocks it.',
  ),
  stop: simple('stop', 'The agent is stopping.'),
  async serve(call, paths) {
    const { runAgentProcess } = await import('../agent/agent-process.ts')
    const reason = await runAgentProcess(paths, call.signal, timeoutOf(call))
    call.stderr.line(`The agent has ended: ${reason}.`)
    return EXIT.done
  },
}

/** Returns the time limit of plugins for requests that do not set one. The agent never has a terminal. */
function timeoutOf({ flags, io: { env } }: Call): number | undefined {
  const isTerminal = { stdout: false, stderr: false }
  return pluginPolicy(flags, { env, isTerminal }).pluginTimeoutMs
}

function simple(wanted: PlainRequest['do'], done: string): Action {
  return async ({ stderr, progress }, paths) => {
    progress.begin('the agent')
    const isThere = await send(paths, wanted)
    stderr.line(isThere ? done : 'No agent is running.')
    return EXIT.done
  }
}

async function lookAt(paths: AgentPaths): Promise<AgentStatus | undefined> {
  const answer = await askAgent(paths, { do: 'status' })
  return typeof answer === 'object' && answer.is === 'status' ? answer.status : undefined
}

/** Returns whether an agent is running. */
async function send(paths: AgentPaths, wanted: PlainRequest['do']): Promise<boolean> {
  const answer = await askAgent(paths, { do: wanted })
  if (typeof answer === 'object' && answer.is === 'failed') {
    throw new AgentUnusableError(answer.message, { hint: answer.hint })
  }
  return answer !== 'absent'
}
