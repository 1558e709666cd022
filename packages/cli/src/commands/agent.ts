import { AgentUnusableError } from 'kubecred/internal'
import { type AgentPlace, agentPlace } from '../agent/agent-paths.ts'
import { askAgent } from '../agent/ask-agent.ts'
import type { AgentStatus, PlainRequest } from '../agent/protocol.ts'
import type { Call, Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { pluginPolicy } from '../flags/plugin-policy.ts'
import { wantsJson } from '../flags/wants-json.ts'
import { agentTable } from '../render/agent-table.ts'
import { printableJson } from '../render/printable.ts'
import { UsageError } from '../usage-error.ts'

/** `agent`: starts, shows, empties, locks and stops the process that keeps credentials for kubecred-token. */
export const agent: Run = async (call) => {
  const [action = 'status'] = call.args
  const known = ACTIONS[action]
  if (known !== undefined) return known(call, agentPlace(call.io.env))
  const names = 'start, status, forget, lock, stop'
  throw new UsageError(`agent takes one of ${names}, not ${JSON.stringify(action)}`, 'agent')
}

type Action = (call: Call, place: AgentPlace) => Promise<number>

const ACTIONS: Readonly<Record<string, Action>> = {
  async start(call, place) {
    const { io, words, patience } = call
    const { startAgent } = await import('../agent/start-agent.ts')
    patience.begin('the agent to start')
    await startAgent(place, io.env, timeoutOf(call))
    // A locked agent is unlocked by this, and a new one is not locked.
    await tell(place, 'unlock')
    words.line(`The agent listens at ${place.socket}.`)
    return EXIT.done
  },
  async status({ io, flags, patience }, place) {
    const isJson = wantsJson(flags)
    patience.begin('the agent')
    const status = await lookAt(place)
    patience.end()
    if (isJson)
      io.stdout.write(printableJson(`${JSON.stringify(status ?? { isRunning: false })}\n`))
    else io.stdout.write(agentTable(status, io.now()))
    return EXIT.done
  },
  forget: simple('forget', 'The agent has forgotten all credentials.'),
  lock: simple(
    'lock',
    'The agent has forgotten all credentials and gives none until it is started.',
  ),
  stop: simple('stop', 'The agent ends.'),
  async serve(call, place) {
    const { serveHere } = await import('../agent/agent-process.ts')
    const reason = await serveHere(place, call.signal, timeoutOf(call))
    call.words.line(`The agent has ended: ${reason}.`)
    return EXIT.done
  },
}

/** How long plugins may take whose clients do not say. In the background nobody sees that something waits. */
function timeoutOf({ flags, io: { env } }: Call): number | undefined {
  const isTerminal = { stdout: false, stderr: false }
  return pluginPolicy(flags, { env, isTerminal }).pluginTimeoutMs
}

function simple(wanted: PlainRequest['do'], done: string): Action {
  return async ({ words, patience }, place) => {
    patience.begin('the agent')
    const isThere = await tell(place, wanted)
    words.line(isThere ? done : 'There is no agent.')
    return EXIT.done
  }
}

async function lookAt(place: AgentPlace): Promise<AgentStatus | undefined> {
  const answer = await askAgent(place, { do: 'status' })
  return typeof answer === 'object' && answer.is === 'status' ? answer.status : undefined
}

/** Whether there was an agent to tell. */
async function tell(place: AgentPlace, wanted: PlainRequest['do']): Promise<boolean> {
  const answer = await askAgent(place, { do: wanted })
  if (typeof answer === 'object' && answer.is === 'failed') {
    throw new AgentUnusableError(answer.message, { hint: answer.hint })
  }
  return answer !== 'absent'
}
