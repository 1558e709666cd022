import { once } from 'node:events'
import process from 'node:process'
import { type Environment, LiveState, type StartedPage, startPage } from '@kubecred/cli/internal'
import { Counters } from './counters.ts'
import type { DemoUser } from './demo-user.ts'
import { EventReporter } from './event-reporter.ts'
import { introduction } from './introduction.ts'
import { OVER_SSH, openBrowser, whyNotOpen } from './open-browser.ts'
import type { Level, Output } from './output.ts'
import { type Pacing, pacingAt, revokePeriodically } from './pacing.ts'
import type { DemoArguments } from './read-arguments.ts'
import type { Scene } from './scene.ts'
import { showIdentities } from './shown-identities.ts'
import { currentState, summaryLines } from './summary.ts'
import { Traffic } from './traffic.ts'

const STATUS_INTERVAL_MS = 500
/** How many requests are sent together when a credential is missing; one plugin run serves them all. */
const BURST = 3

/** What the demo needs. */
export interface DemoOptions {
  readonly args: DemoArguments
  readonly env: Environment
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean
  readonly output: Output
  readonly now: () => number
  /** Stops the demo. */
  readonly signal: AbortSignal
}

/** Runs the demo until the signal aborts or its duration has passed, then cleans up. */
export async function runDemo(options: DemoOptions): Promise<void> {
  const { args, now, output } = options
  const state = new LiveState({ title: 'kubecred demo', now })
  const page = await startPage({ state, port: args.port })
  try {
    output.print([
      'Starting a Kubernetes API server in this process. Three users send it requests:',
    ])
    await new Demo(options, state).run(page)
  } finally {
    output.clearStatus()
    await page.close()
  }
}

/** One run of the demo. */
class Demo {
  readonly #options: DemoOptions
  readonly #state: LiveState
  readonly #pacing: Pacing
  readonly #counters = new Counters()
  readonly #traffic: Traffic
  readonly #reporter: EventReporter
  readonly #problems: string[] = []
  #startedAt = 0

  constructor(options: DemoOptions, state: LiveState) {
    const { now, args } = options
    this.#options = options
    this.#pacing = pacingAt(args.speed)
    this.#state = state
    this.#traffic = new Traffic({
      counters: this.#counters,
      now,
      note: state.recordRequest,
      onFailure: (user, reason) =>
        this.#report(`A request of ${user} failed: ${reason}`, 'failure'),
    })
    this.#reporter = new EventReporter({
      report: (...sentence) => this.#report(...sentence),
      traffic: this.#traffic,
      now,
    })
    state.addOpenCounter(() => this.#traffic.open)
  }

  async run(page: StartedPage): Promise<void> {
    const { env, signal } = this.#options
    const shown = showIdentities(this.#state)
    // Loaded after the first line is printed, because certificates need a large module.
    const { Scene } = await import('./scene.ts')
    const scene = await Scene.start({
      env,
      pacing: this.#pacing,
      signal,
      onProblem: (sentence) => this.#problems.push(sentence),
      observerFor: (user) => {
        const report = this.#reporter.observerFor(user)
        return (event) => {
          shown[user.id].observer(event)
          this.#counters.observe(event)
          report(event)
        }
      },
    })
    try {
      if (signal.aborted) return
      for (const { user, cluster } of scene.users) shown[user.id].attach(cluster)
      await this.#introduce(scene, page)
      await this.#sendRequests(scene)
    } finally {
      await this.#traffic.end()
      await scene.close()
    }
    this.#summarize(scene)
  }

  async #introduce({ users }: Scene, { url }: StartedPage): Promise<void> {
    const { output } = this.#options
    const remark = await this.#open(url)
    const problems = this.#problems
    output.print(introduction(users, { url, remark, problems }, output.palette))
    this.#startedAt = performance.now()
  }

  /** Opens the page if possible. @returns A remark for the introduction. */
  async #open(url: string): Promise<string> {
    const { args, env, isTerminal } = this.#options
    const how = { env, platform: process.platform }
    if (!args.mayOpen) return 'Press Ctrl-C to stop.'
    const why = whyNotOpen({ ...how, isTerminal }) ?? (await openBrowser(url, how))
    if (why === undefined) return 'Opening it in your browser. Press Ctrl-C to stop.'
    const { port } = new URL(url)
    return why === OVER_SSH
      ? `To open it on your machine: ssh -L ${port}:127.0.0.1:${port} HOST. Press Ctrl-C to stop.`
      : `No browser is opened: ${why}. Press Ctrl-C to stop.`
  }

  /** Sends requests and revokes credentials until the demo is stopped. */
  async #sendRequests({ users }: Scene): Promise<void> {
    const { args, now, output } = this.#options
    const { signal, stop } = withLimit(this.#options.signal, args.durationMs)
    for (const { user, cluster } of users) {
      this.#traffic.start(user, cluster)
      this.#traffic.burst(user, BURST - 1)
    }
    const demoUsers = users.map(({ user }) => user)
    const stopRevoking = revokePeriodically(demoUsers, this.#pacing, (user) => this.#revoke(user))
    const statusTimer = setInterval(
      () => output.showStatus(currentState(this.#counters, users, now())),
      STATUS_INTERVAL_MS,
    )
    if (!signal.aborted) await once(signal, 'abort')
    stop()
    stopRevoking()
    clearInterval(statusTimer)
  }

  #revoke(user: DemoUser): void {
    const { id, credential } = user
    this.#report(`${id}'s ${credential} is revoked while three requests are in flight …`, 'warning')
    this.#counters.revocations += 1
    user.revoke?.()
    this.#traffic.burst(user, BURST)
  }

  #summarize({ users }: Scene): void {
    const { output } = this.#options
    output.clearStatus()
    const lines = summaryLines(this.#counters, users, this.#seconds())
    output.print(['', ...lines, ''])
  }

  #report(sentence: string, level?: Level): void {
    // Problems during the start are part of the introduction.
    if (this.#startedAt === 0) return
    this.#options.output.report(this.#seconds(), sentence, level)
  }

  #seconds(): number {
    return Math.floor((performance.now() - this.#startedAt) / 1000)
  }
}

/** Returns a signal that also aborts after a time. */
function withLimit(
  signal: AbortSignal,
  milliseconds: number | undefined,
): { readonly signal: AbortSignal; readonly stop: () => void } {
  if (milliseconds === undefined) return { signal, stop: () => {} }
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), milliseconds)
  return { signal: AbortSignal.any([signal, limit.signal]), stop: () => clearTimeout(timer) }
}
