const FIRST_PAUSE_MS = 1000
const MAX_RUN_PAUSE_MS = 300_000
const MAX_ATTEMPT_PAUSE_MS = 60_000

/** Checks when one handler is asked: never twice at once, and never before its pause is over. */
export class LoginPace {
  /** By which part a pause may be shorter, and by how much more a clock may be off. */
  readonly #spread: number
  readonly #slackMs: number
  #isRunning = false
  #attempts = 0
  /** When the next attempt of this login begins; undefined between two logins. */
  #nextAttemptAt: number | undefined
  #failures = 0
  #notBefore = 0
  #refusalRuns = 0
  #refusalNotBefore = 0
  #isRefusalRun = false

  constructor({ spread = 0, slackMs = 0 } = {}) {
    this.#spread = spread
    this.#slackMs = slackMs
  }

  /** Whether a login is running: an attempt, or the pause before the next. */
  get isBusy(): boolean {
    return this.#isRunning || this.#nextAttemptAt !== undefined
  }

  /** Whether the last login that ended gave nothing. */
  get hasFailed(): boolean {
    return this.#failures > 0
  }

  /** @returns What is wrong with being asked now. */
  begins(now: number, attempt: number, isRefusal: boolean): string | undefined {
    const isRunning = this.#isRunning
    this.#isRunning = true
    if (isRunning) return 'was asked while it was still busy'
    this.#attempts += 1
    if (this.#nextAttemptAt !== undefined) {
      const early = this.#nextAttemptAt - now - this.#slackMs
      const isRight = attempt === this.#attempts && early <= 0
      return isRight ? undefined : `had its attempt ${attempt} ${early} ms too early`
    }
    this.#attempts = 1
    this.#isRefusalRun = isRefusal
    if (isRefusal) this.#refusalRuns += 1
    if (attempt !== 1) return `began a login with attempt ${attempt}`
    const notBefore = Math.max(this.#notBefore, isRefusal ? this.#refusalNotBefore : 0)
    const early = notBefore - now - this.#slackMs
    return early > 0 ? `was asked ${early} ms too early` : undefined
  }

  /** It threw, and the same login goes on. */
  willRetry(now: number, delayMs?: number): void {
    this.#isRunning = false
    const doubled = FIRST_PAUSE_MS * 2 ** (this.#attempts - 1)
    this.#nextAttemptAt = now + (delayMs ?? Math.min(doubled, MAX_ATTEMPT_PAUSE_MS))
  }

  ended(now: number, isGood: boolean): void {
    this.#isRunning = false
    this.#nextAttemptAt = undefined
    this.#failures = isGood ? 0 : this.#failures + 1
    this.#notBefore = isGood ? 0 : now + this.#pauseAfter(this.#failures)
    if (this.#isRefusalRun) this.#refusalNotBefore = now + this.#pauseAfter(this.#refusalRuns)
    // Where what it gave before was in use and good until now, its earlier refusals are forgotten.
    else if (isGood) this.forgive()
  }

  /** What it returned has served for long enough: earlier refusals are forgotten. */
  forgive(): void {
    this.#refusalRuns = 0
  }

  #pauseAfter(count: number): number {
    return Math.min(FIRST_PAUSE_MS * 2 ** (count - 1), MAX_RUN_PAUSE_MS) * (1 - this.#spread)
  }
}
