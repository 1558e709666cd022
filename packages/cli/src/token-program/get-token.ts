import { isCredentialError } from 'kubecred/errors'
import type { RunOutcome } from 'kubecred/internal'
import { type AgentPaths, agentPaths } from '../agent/agent-paths.ts'
import { askAgent, type FinalAnswer } from '../agent/ask-agent.ts'
import type { DepositedOutcome, GetRequest } from '../agent/protocol.ts'
import { makeRequest } from './make-request.ts'
import type { TokenArguments } from './read-arguments.ts'
import type { TokenIo } from './token-io.ts'

/** Enough to find no agent, start one, lose it and start another. */
const MAX_TRIES = 6
const LOST_PAUSE_MS = 25

/** The result of a request for a credential. */
export type TokenAnswer = Extract<FinalAnswer, { is: 'credential' | 'failed' }> & {
  /** Whether the standard error of the plugin has been passed on already. */
  readonly hasPassedStderr?: boolean
}

/** Gets the answer of the plugin: from the agent, or by running the plugin if there can be no agent. */
export async function getToken(args: TokenArguments, io: TokenIo): Promise<TokenAnswer> {
  const request = await makeRequest(args, io)
  return new TokenRequest(request, io).get()
}

/** One request for a credential, with its state. */
class TokenRequest {
  readonly #request: GetRequest
  readonly #io: TokenIo
  #hasPassedStderr = false
  /** The run that the agent left to this process. */
  #running: Promise<RunOutcome> | undefined

  constructor(request: GetRequest, io: TokenIo) {
    this.#request = request
    this.#io = io
  }

  async get(): Promise<TokenAnswer> {
    const { env, writeLine } = this.#io
    if (env['KUBECRED_AGENT'] === 'off') return this.#alone()
    try {
      const answer = await this.#fromAgent(agentPaths(env))
      if (answer !== undefined) return answer
      writeLine('the agent ended repeatedly; running the plugin without it')
    } catch (error) {
      // Compares the code, not the class: the bundle that starts agents has its own copy of the class.
      if (!isCredentialError(error) || error.code !== 'ERR_AGENT_UNUSABLE') throw error
      writeLine(`running the plugin without the agent: ${error.message}`)
      writeLine(error.hint)
    }
    return this.#alone()
  }

  /** Returns undefined if the agent keeps going away. */
  async #fromAgent(paths: AgentPaths): Promise<TokenAnswer | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const answer = await askAgent(paths, this.#request, {
        onStderr: (text) => this.#pass(text),
        onRun: () => this.#runForAgent(),
      })
      if (answer === 'absent') {
        const { startAgent } = await import('../agent/start-agent.ts')
        await startAgent(paths, this.#io.env)
      } else if (answer === 'lost') {
        // The user must not be prompted twice.
        if (this.#running !== undefined) return this.#alone()
        // A dying process closes its connections one by one: its socket may still accept the next one.
        await new Promise((resolve) => setTimeout(resolve, LOST_PAUSE_MS * 2 ** tries))
      } else if (answer.is === 'credential') return answer
      else if (answer.is === 'failed') return { ...answer, hasPassedStderr: this.#hasPassedStderr }
      else return this.#alone()
    }
    return undefined
  }

  async #runForAgent(): Promise<DepositedOutcome> {
    const { runAtTerminal, encodeOutcome } = await import('./slow-path.ts')
    this.#io.yieldTerminal()
    this.#running = runAtTerminal(this.#request, NEVER)
    return encodeOutcome(await this.#running)
  }

  async #alone(): Promise<TokenAnswer> {
    const { runWithoutAgent, failedAnswer } = await import('./slow-path.ts')
    try {
      const text = await runWithoutAgent(this.#request, {
        signal: NEVER,
        report: (event) => {
          if (event.type === 'plugin-started' && event.isInteractive) {
            this.#io.yieldTerminal()
          }
          if (event.type === 'plugin-stderr') this.#pass(event.text)
          if (event.type === 'warning') this.#io.writeLine(event.message)
        },
        outcome: await this.#running,
      })
      return { is: 'credential', text }
    } catch (error) {
      return { ...failedAnswer(error), hasPassedStderr: this.#hasPassedStderr }
    }
  }

  #pass(text: string): void {
    this.#hasPassedStderr = true
    this.#io.passStderr(text)
  }
}

/** A run is ended only by its time limit, or by a signal that ends this process too. */
const NEVER = new AbortController().signal
