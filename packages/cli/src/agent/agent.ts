import { AgentLockedError, nodeCrypto, type RunOutcome } from 'kubecred/internal'
import { Entry, type EntryPorts } from './entry.ts'
import { failedAnswer } from './failed-answer.ts'
import { identityText } from './identity.ts'
import type { Answer, DepositedOutcome, EntryStatus, GetRequest, LookRequest } from './protocol.ts'

const MAX_ENTRIES = 1000
/** How long a plugin whose credential has no expiry is remembered as one whose answers are not shared. */
const UNSHARED_MS = 10 * 60_000

/** Keeps the credentials of one user, by identity. Independent of the socket that serves it. */
export class Agent {
  readonly #ports: EntryPorts
  readonly #entries = new Map<string, Entry>()
  readonly #unshared = new Map<string, number>()
  #isLocked = false

  constructor(ports: EntryPorts) {
    this.#ports = ports
  }

  get isLocked(): boolean {
    return this.#isLocked
  }

  /** Never rejects: an error becomes a `failed` answer. */
  async get(requester: Requester): Promise<Answer> {
    try {
      return await this.#get(requester)
    } catch (error) {
      const secrets = [...this.#entries.values()].flatMap((entry) => entry.secrets)
      return failedAnswer(error, secrets)
    }
  }

  /** Returns the status of the credential that this request would get. */
  look(request: LookRequest): EntryStatus | undefined {
    return this.#entries.get(digestOf(request))?.status()
  }

  /** Drops every credential and aborts every run; waiting requests are rejected. */
  forget(): void {
    for (const entry of this.#entries.values()) void entry.close()
    this.#entries.clear()
    this.#unshared.clear()
  }

  lock(): void {
    this.#isLocked = true
    this.forget()
  }

  unlock(): void {
    this.#isLocked = false
  }

  status(): readonly EntryStatus[] {
    return [...this.#entries.values()].map((entry) => entry.status())
  }

  /**
   * Drops the credentials that have not been requested for this long.
   *
   * If the clock was set back, times that are now in the future count as now: they would keep a credential until the
   * clock has caught up.
   */
  sweep(now: number, idleMs: number): void {
    for (const [id, entry] of this.#entries) {
      entry.lastAskedAt = Math.min(entry.lastAskedAt, now)
      if (entry.isIdle && now - entry.lastAskedAt > idleMs) this.#drop(id, entry)
    }
    for (const [id, until] of this.#unshared) {
      if (until <= now || until > now + UNSHARED_MS) this.#unshared.delete(id)
    }
  }

  async #get(requester: Requester): Promise<Answer> {
    if (this.#isLocked) throw new AgentLockedError('the agent is locked')
    const id = digestOf(requester.request)
    const now = this.#ports.clock.now()
    if (now < (this.#unshared.get(id) ?? 0)) return { is: 'alone' }
    const entry = this.#entries.get(id) ?? this.#open(id, requester)
    try {
      return await entry.get(requester)
    } finally {
      if (entry.isUnshared) this.#setApart(id, entry)
      // The next request starts over without back-off: the plugin did not fail.
      else if (entry.isAbandoned(requester)) this.#drop(id, entry)
    }
  }

  #open(id: string, { request }: Requester): Entry {
    const entry = new Entry(request, this.#ports)
    this.#entries.set(id, entry)
    if (this.#entries.size > MAX_ENTRIES) this.#dropOldest()
    return entry
  }

  #dropOldest(): void {
    const idle = [...this.#entries].filter(([, entry]) => entry.isIdle)
    const [oldest] = idle.sort(([, a], [, b]) => a.lastAskedAt - b.lastAskedAt)
    if (oldest !== undefined) this.#drop(...oldest)
  }

  /** Drops the entry on the next turn: other requests that waited for the same run still need its answer. */
  #setApart(id: string, entry: Entry): void {
    this.#unshared.set(id, this.#ports.clock.now() + UNSHARED_MS)
    if (this.#unshared.size > MAX_ENTRIES) this.#unshared.clear()
    setImmediate(() => this.#drop(id, entry))
  }

  #drop(id: string, entry: Entry): void {
    if (this.#entries.get(id) === entry) this.#entries.delete(id)
    void entry.close()
  }
}

function digestOf(request: GetRequest | LookRequest): string {
  return nodeCrypto.digest(identityText(request))
}

/** One connection that waits for a credential. */
export class Requester {
  readonly request: GetRequest
  readonly #send: (answer: Answer) => void
  readonly #left = new AbortController()
  #onDeposit: ((outcome: RunOutcome) => void) | undefined

  constructor(request: GetRequest, send: (answer: Answer) => void) {
    this.request = request
    this.#send = send
  }

  /** Aborted when the connection closes before it has an answer. */
  get left(): AbortSignal {
    return this.#left.signal
  }

  sendStderr(text: string): void {
    this.#send({ is: 'stderr', text })
  }

  leave(): void {
    this.#left.abort()
  }

  /** Takes the outcome of the run that this requester made for the agent. An unexpected one is dropped. */
  deposit(outcome: DepositedOutcome): void {
    this.#onDeposit?.(
      outcome.ended === 'exited'
        ? { ...outcome, stdout: Buffer.from(outcome.stdout, 'base64') }
        : outcome,
    )
  }

  /** Asks this requester to run the plugin at its terminal; undefined if it leaves or the signal aborts. */
  run(signal: AbortSignal): Promise<RunOutcome | undefined> {
    return new Promise((resolve) => {
      const end = (outcome?: RunOutcome): void => {
        this.#left.signal.removeEventListener('abort', stop)
        signal.removeEventListener('abort', stop)
        this.#onDeposit = undefined
        resolve(outcome)
      }
      const stop = (): void => end()
      if (this.#left.signal.aborted || signal.aborted) {
        resolve(undefined)
        return
      }
      this.#left.signal.addEventListener('abort', stop)
      signal.addEventListener('abort', stop)
      this.#onDeposit = end
      this.#send({ is: 'run' })
    })
  }
}
