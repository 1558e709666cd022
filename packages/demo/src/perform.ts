import { once } from 'node:events'
import process from 'node:process'
import { type Environment, LiveState, type StartedPage, startPage } from '@kubecred/cli/internal'
import type { Cast } from './cast.ts'
import type { Character } from './character.ts'
import { introduction } from './introduction.ts'
import { OVER_SSH, openBrowser, whyNotOpen } from './open-browser.ts'
import type { DemoArguments } from './read-arguments.ts'
import { keepRevoking, type Rhythm, rhythmAt } from './rhythm.ts'
import { showIdentities } from './shown-identities.ts'
import type { Stage, Tone } from './stage.ts'
import { currentState, summaryLines } from './summary.ts'
import { Tally } from './tally.ts'
import { Teller } from './teller.ts'
import { Traffic } from './traffic.ts'

const SHOW_AGAIN_MS = 500
/** So many come at once when a credential is missing; one run serves them all. */
const CROWD = 3

export interface PerformOptions {
  readonly args: DemoArguments
  readonly env: Environment
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean
  readonly stage: Stage
  readonly now: () => number
  /** Ends the demo. */
  readonly signal: AbortSignal
}

/** Plays the demo until the signal ends it, and leaves nothing behind. */
export async function perform(options: PerformOptions): Promise<void> {
  const { args, now, stage } = options
  const state = new LiveState({ title: 'kubecred demo', now })
  const page = await startPage({ state, port: args.port })
  try {
    stage.plain(['A Kubernetes API server starts in this process. Three use it all the time:'])
    await new Show(options, state).play(page)
  } finally {
    stage.end()
    await page.close()
  }
}

/** One evening of it, from the first to the last sentence. */
class Show {
  readonly #options: PerformOptions
  readonly #state: LiveState
  readonly #rhythm: Rhythm
  readonly #tally = new Tally()
  readonly #traffic: Traffic
  readonly #teller: Teller
  readonly #problems: string[] = []
  #startedAt = 0

  constructor(options: PerformOptions, state: LiveState) {
    const { now, args } = options
    this.#options = options
    this.#rhythm = rhythmAt(args.speed)
    this.#state = state
    this.#traffic = new Traffic({
      tally: this.#tally,
      now,
      note: state.recordRequest,
      onFailure: (who, why) => this.#say(`A request of ${who} failed: ${why}`, 'failure'),
    })
    this.#teller = new Teller({
      say: (...sentence) => this.#say(...sentence),
      traffic: this.#traffic,
      now,
    })
    state.countOpen(() => this.#traffic.open)
  }

  async play(page: StartedPage): Promise<void> {
    const { env, signal } = this.#options
    const shown = showIdentities(this.#state)
    // Loaded when the first sentence has been said: certificates need a large module.
    const { Cast } = await import('./cast.ts')
    const cast = await Cast.gather({
      env,
      rhythm: this.#rhythm,
      signal,
      onProblem: (sentence) => this.#problems.push(sentence),
      observerFor: (character) => {
        const tell = this.#teller.observerFor(character)
        return (event) => {
          shown[character.id].observer(event)
          this.#tally.observe(event)
          tell(event)
        }
      },
    })
    try {
      if (signal.aborted) return
      for (const { character, cluster } of cast.players) shown[character.id].attach(cluster)
      await this.#introduce(cast, page)
      await this.#run(cast)
    } finally {
      await this.#traffic.end()
      await cast.close()
    }
    this.#conclude(cast)
  }

  async #introduce({ players }: Cast, { url }: StartedPage): Promise<void> {
    const { stage } = this.#options
    const remark = await this.#open(url)
    const problems = this.#problems
    stage.plain(introduction(players, { url, remark, problems }, stage.palette))
    this.#startedAt = performance.now()
  }

  /** Opens the page where that makes sense. @returns What to say about it. */
  async #open(url: string): Promise<string> {
    const { args, env, isTerminal } = this.#options
    const how = { env, platform: process.platform }
    if (!args.mayOpen) return 'Ctrl-C ends the demo.'
    const why = whyNotOpen({ ...how, isTerminal }) ?? (await openBrowser(url, how))
    if (why === undefined) return 'It opens in your browser. Ctrl-C ends the demo.'
    const { port } = new URL(url)
    return why === OVER_SSH
      ? `To see it from your machine: ssh -L ${port}:127.0.0.1:${port} HOST. Ctrl-C ends the demo.`
      : `No browser is opened: ${why}. Ctrl-C ends the demo.`
  }

  /** Lets everybody act until the end. */
  async #run({ players }: Cast): Promise<void> {
    const { args, now, stage } = this.#options
    const { signal, stop } = withLimit(this.#options.signal, args.durationMs)
    for (const { character, cluster } of players) {
      this.#traffic.join(character, cluster)
      this.#traffic.burst(character, CROWD - 1)
    }
    const characters = players.map(({ character }) => character)
    const stopRevoking = keepRevoking(characters, this.#rhythm, (character) =>
      this.#revoke(character),
    )
    const showing = setInterval(
      () => stage.show(currentState(this.#tally, players, now())),
      SHOW_AGAIN_MS,
    )
    if (!signal.aborted) await once(signal, 'abort')
    stop()
    stopRevoking()
    clearInterval(showing)
  }

  #revoke(character: Character): void {
    const { id, shows } = character
    this.#say(
      `Somebody revokes ${id}'s ${shows}, while three requests are on their way …`,
      'trouble',
    )
    this.#tally.revocations += 1
    character.revoke?.()
    this.#traffic.burst(character, CROWD)
  }

  #conclude({ players }: Cast): void {
    const { stage } = this.#options
    stage.end()
    const lines = summaryLines(this.#tally, players, this.#seconds())
    stage.plain(['', ...lines, ''])
  }

  #say(sentence: string, tone?: Tone): void {
    // Who cannot come is told with those who can.
    if (this.#startedAt === 0) return
    this.#options.stage.say(this.#seconds(), sentence, tone)
  }

  #seconds(): number {
    return Math.floor((performance.now() - this.#startedAt) / 1000)
  }
}

/** The signal, or the end of a time that begins now. */
function withLimit(
  signal: AbortSignal,
  milliseconds: number | undefined,
): { readonly signal: AbortSignal; readonly stop: () => void } {
  if (milliseconds === undefined) return { signal, stop: () => {} }
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), milliseconds)
  return { signal: AbortSignal.any([signal, limit.signal]), stop: () => clearTimeout(timer) }
}
