import { AgentLockedError, nodeCrypto, type RunOutcome } from 'kubecred/internal'
import { Entry, type EntryPorts } from './entry.ts'
import { describeFailed } from './failed-answer.ts'
import { identityText } from './identity.ts'
import type { Answer, DepositedOutcome, EntryStatus, GetRequest, LookRequest } from './protocol.ts'

const MOST_ENTRIES = 1000
/** A plugin that sets no end is not taken for another one before this time. */
const UNSHARED_MS = 10 * 60_000

/** The credentials of one user, by identity. Knows nothing of sockets. */
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

  /** Never rejects: what goes wrong is an answer too. */
  async get(asker: Asker): Promise<Answer> {
    try {
      return await this.#get(asker)
    } catch (error) {
      const secrets = [...this.#entries.values()].flatMap((entry) => entry.secrets)
      return describeFailed(error, secrets)
    }
  }

  /** What is known of the credential that such an asker would get. */
  look(request: LookRequest): EntryStatus | undefined {
    return this.#entries.get(digestOf(request))?.status()
  }

  /** Forgets every credential and ends every run; who waits is told so. */
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

  /** Forgets what nobody has asked for since the given time. */
  sweep(before: number): void {
    for (const [id, entry] of this.#entries) {
      if (entry.isIdle && entry.lastAskedAt < before) this.#drop(id, entry)
    }
  }

  async #get(asker: Asker): Promise<Answer> {
    if (this.#isLocked) throw new AgentLockedError('the agent is locked')
    const id = digestOf(asker.request)
    const now = this.#ports.clock.now()
    if (now < (this.#unshared.get(id) ?? 0)) return { is: 'alone' }
    const entry = this.#entries.get(id) ?? this.#open(id, asker)
    try {
      return await entry.get(asker)
    } finally {
      if (entry.isUnshared) this.#setApart(id, entry)
      // The next one begins anew, without a pause: nothing was wrong with the plugin.
      else if (entry.isAbandoned(asker)) this.#drop(id, entry)
    }
  }

  #open(id: string, { request }: Asker): Entry {
    const entry = new Entry(request, this.#ports)
    this.#entries.set(id, entry)
    if (this.#entries.size > MOST_ENTRIES) this.#dropOldest()
    return entry
  }

  #dropOldest(): void {
    const idle = [...this.#entries].filter(([, entry]) => entry.isIdle)
    const [oldest] = idle.sort(([, a], [, b]) => a.lastAskedAt - b.lastAskedAt)
    if (oldest !== undefined) this.#drop(...oldest)
  }

  /** Not at once: others who waited for the same run are still to be told. */
  #setApart(id: string, entry: Entry): void {
    this.#unshared.set(id, this.#ports.clock.now() + UNSHARED_MS)
    if (this.#unshared.size > MOST_ENTRIES) this.#unshared.clear()
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

/** Somebody who waits for a credential. */
export class Asker {
  readonly request: GetRequest
  readonly #send: (answer: Answer) => void
  readonly #left = new AbortController()
  #onDeposit: ((outcome: RunOutcome) => void) | undefined

  constructor(request: GetRequest, send: (answer: Answer) => void) {
    this.request = request
    this.#send = send
  }

  /** Aborted when they leave before they have an answer. */
  get left(): AbortSignal {
    return this.#left.signal
  }

  tell(text: string): void {
    this.#send({ is: 'stderr', text })
  }

  leave(): void {
    this.#left.abort()
  }

  /** How the run ended that they were told to make. What nobody asked for is dropped. */
  deposit(outcome: DepositedOutcome): void {
    this.#onDeposit?.(
      outcome.ended === 'exited'
        ? { ...outcome, stdout: Buffer.from(outcome.stdout, 'base64') }
        : outcome,
    )
  }

  /** Lets them run the plugin at their terminal; undefined when they leave or are told to stop waiting. */
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
