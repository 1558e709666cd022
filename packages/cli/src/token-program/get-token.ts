import { isCredentialError } from 'kubecred/errors'
import type { RunOutcome } from 'kubecred/internal'
import { type AgentPlace, agentPlace } from '../agent/agent-paths.ts'
import { askAgent, type LastAnswer } from '../agent/ask-agent.ts'
import type { DepositedOutcome, GetRequest } from '../agent/protocol.ts'
import { makeRequest } from './make-request.ts'
import type { TokenArguments } from './read-arguments.ts'
import type { Surroundings } from './token-io.ts'

/** To find none, to start one, to lose it and to start another. */
const MOST_TRIES = 6
const LOST_PAUSE_MS = 25

/** An answer that the agent could not give. */
export type TokenAnswer = Extract<LastAnswer, { is: 'credential' | 'failed' }> & {
  /** Whether what the plugin said has been passed on already. */
  readonly hasPassedStderr?: boolean
}

/** Gets what the plugin behind us would print: from the agent, or, where there can be none, from the plugin. */
export async function getToken(
  args: TokenArguments,
  surroundings: Surroundings,
): Promise<TokenAnswer> {
  const request = await makeRequest(args, surroundings)
  return new Getting(request, surroundings).get()
}

/** One request for a credential, with what happened on the way. */
class Getting {
  readonly #request: GetRequest
  readonly #surroundings: Surroundings
  #hasPassedStderr = false
  /** How the plugin ended, when the agent left it to us. */
  #running: Promise<RunOutcome> | undefined

  constructor(request: GetRequest, surroundings: Surroundings) {
    this.#request = request
    this.#surroundings = surroundings
  }

  async get(): Promise<TokenAnswer> {
    const { env, tell } = this.#surroundings
    if (env['KUBECRED_AGENT'] === 'off') return this.#alone()
    try {
      const answer = await this.#fromAgent(agentPlace(env))
      if (answer !== undefined) return answer
      tell('the agent went away again and again; the plugin runs without it')
    } catch (error) {
      // Not by its class: the start of an agent is in a file that has a copy of its own.
      if (!isCredentialError(error) || error.code !== 'ERR_AGENT_UNUSABLE') throw error
      tell(`no agent, so nothing is kept: ${error.message}`)
      tell(error.hint)
    }
    return this.#alone()
  }

  /** Undefined when the agent is lost again and again. */
  async #fromAgent(place: AgentPlace): Promise<TokenAnswer | undefined> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const answer = await askAgent(place, this.#request, {
        onStderr: (text) => this.#pass(text),
        onRun: () => this.#runForAgent(),
      })
      if (answer === 'absent') {
        const { startAgent } = await import('../agent/start-agent.ts')
        await startAgent(place, this.#surroundings.env)
      } else if (answer === 'lost') {
        // The person at the terminal is asked once, whoever reads the answer.
        if (this.#running !== undefined) return this.#alone()
        // A process that dies closes one connection after the other: its socket may take the next one still.
        await new Promise((resolve) => setTimeout(resolve, LOST_PAUSE_MS * 2 ** tries))
      } else if (answer.is === 'credential') return answer
      else if (answer.is === 'failed') return { ...answer, hasPassedStderr: this.#hasPassedStderr }
      else return this.#alone()
    }
    return undefined
  }

  async #runForAgent(): Promise<DepositedOutcome> {
    const { runAtTerminal, encodeOutcome } = await import('./slow-path.ts')
    this.#surroundings.giveTerminal()
    this.#running = runAtTerminal(this.#request, NEVER)
    return encodeOutcome(await this.#running)
  }

  async #alone(): Promise<TokenAnswer> {
    const { runHere, describeFailed } = await import('./slow-path.ts')
    try {
      const text = await runHere(this.#request, {
        signal: NEVER,
        report: (event) => {
          if (event.type === 'plugin-started' && event.isInteractive) {
            this.#surroundings.giveTerminal()
          }
          if (event.type === 'plugin-stderr') this.#pass(event.text)
          if (event.type === 'warning') this.#surroundings.tell(event.message)
        },
        outcome: await this.#running,
      })
      return { is: 'credential', text }
    } catch (error) {
      return { ...describeFailed(error), hasPassedStderr: this.#hasPassedStderr }
    }
  }

  #pass(text: string): void {
    this.#hasPassedStderr = true
    this.#surroundings.pass(text)
  }
}

/** Nothing ends a run but its limits, and a signal that ends us both. */
const NEVER = new AbortController().signal
