import type { Secret } from 'kubecred'
import {
  type Acquired,
  type Clock,
  type Credential,
  type ExecConfig,
  type ExecLimits,
  Keeper,
  type Lease,
  nodeCrypto,
  type RunOutcome,
  type Source,
  showArgs,
} from 'kubecred/internal'
import type { Asker } from './agent.ts'
import { agentSource, credentialAnswer, execConfigOf } from './agent-source.ts'
import type { Answer, EntryStatus, GetRequest, ProcessName } from './protocol.ts'

/** Where nobody knows in which file the account stands, a change of it is noticed after this time. */
const UNKNOWN_ACCOUNT_MS = 15 * 60_000
/** People wait for these: after a login by hand, nobody should be told for minutes that there is none. */
const BACKOFF_LIMIT_MS = 30_000
/** A credential that nobody complained about for so long is good. */
const SERVED_MS = 60_000

export interface EntryPorts {
  readonly clock: Clock
  readonly limits: ExecLimits
}

/** The client asks again for a credential that has not expired: all that is known is that a server refused it. */
const REFUSED = { status: 401, headers: {} }

/** One identity: its keeper, and those who wait for it. */
export class Entry {
  readonly #ports: EntryPorts
  readonly #exec: ExecConfig
  readonly #keeper: Keeper
  readonly #askers = new Set<Asker>()
  readonly #given = new Given()
  /** Who stopped the plugin that ran at their terminal. */
  readonly #declined = new WeakSet<Asker>()
  /** What the plugin itself said, before we cut it: that is what clients are told. */
  readonly #ends = new WeakMap<Credential, number>()
  #latest: GetRequest
  #starter: Asker | undefined
  #lastRunAt: number | undefined
  #isUnshared = false
  /** Whether the last run was somebody's at a terminal. */
  #isDelegated = false
  #isDeclined = false
  lastAskedAt: number

  constructor(first: GetRequest, ports: EntryPorts) {
    this.#ports = ports
    this.#latest = first
    this.#exec = execConfigOf(first)
    this.lastAskedAt = ports.clock.now()
    this.#keeper = new Keeper(
      this.#source(),
      { clock: ports.clock, crypto: nodeCrypto },
      { backoffLimitMs: BACKOFF_LIMIT_MS },
    )
  }

  /** Whether the plugin sets no end to what it gives: then nobody but who started the run may have it. */
  get isUnshared(): boolean {
    return this.#isUnshared
  }

  /** Whether the run that was to bring a credential ended because the person at the terminal wanted it to. */
  isAbandoned({ left }: Asker): boolean {
    const isOver = this.#isDeclined || (this.#isDelegated && left.aborted)
    return isOver && this.#askers.size === 0 && this.#keeper.held === undefined
  }

  /** Everything in its credential that must not show. */
  get secrets(): readonly Secret[] {
    return this.#keeper.secrets
  }

  get isIdle(): boolean {
    return this.#askers.size === 0
  }

  /** @throws {CredentialError} */
  async get(asker: Asker): Promise<Answer> {
    const { clock } = this.#ports
    this.#latest = asker.request
    this.lastAskedAt = clock.now()
    this.#askers.add(asker)
    try {
      const lease = await this.#leaseFor(asker)
      if (this.#isUnshared && this.#starter !== asker) return { is: 'alone' }
      const expiresAt = this.#endOf(lease)
      this.#given.remember(asker.request.parent, lease, expiresAt, clock.now())
      const text = credentialAnswer(lease.credential, expiresAt, this.#exec.apiVersion)
      return { is: 'credential', text }
    } catch (error) {
      if (this.#isUnshared) return { is: 'alone' }
      throw error
    } finally {
      this.#askers.delete(asker)
    }
  }

  status(): EntryStatus {
    const { source: _, ...status } = this.#keeper.status()
    const { held } = this.#keeper
    const expiresAt = held && this.#endOf(held.credential)
    const { command, path } = this.#latest
    return {
      ...status,
      command,
      path,
      args: showArgs(this.#exec),
      waiting: this.#askers.size,
      lastAskedAt: this.lastAskedAt,
      ...(this.#lastRunAt !== undefined && { lastRunAt: this.#lastRunAt }),
      ...(expiresAt !== undefined && Number.isFinite(expiresAt) && { expiresAt }),
    }
  }

  close(): Promise<void> {
    return this.#keeper.close()
  }

  /** The same client asks again for what it has: the server said no to it. */
  async #leaseFor(asker: Asker): Promise<Lease> {
    const { request, left } = asker
    const refused = this.#given.find(request.parent, this.#ports.clock.now())
    if (refused !== undefined) {
      const better = this.#counting(asker, () => this.#keeper.replace(refused, REFUSED, left))
      const lease = await better
      if (lease !== undefined) return lease
    } else this.#acceptServed()
    return this.#counting(asker, () => this.#keeper.lease(left))
  }

  /** Remembers whose ask began a run. */
  #counting<T>(asker: Asker, ask: () => T): T {
    const before = this.#keeper.status().runs
    const asked = ask()
    if (this.#keeper.status().runs > before) this.#starter = asker
    return asked
  }

  #acceptServed(): void {
    const { held } = this.#keeper
    if (held === undefined || held.isRefused) return
    const isOld = this.#ports.clock.now() - held.acquiredAt >= SERVED_MS
    if (isOld) this.#keeper.accept(held.credential)
  }

  #endOf(lease: Lease): number {
    return this.#ends.get(lease.credential) ?? Number.POSITIVE_INFINITY
  }

  #source(): Source {
    const source = agentSource(
      this.#exec,
      {
        latest: () => this.#latest,
        hasTerminal: () => this.#withTerminal() !== undefined,
        delegate: (signal) => this.#delegate(signal),
        isEmpty: () => !this.#hasWaiting(),
      },
      this.#ports,
    )
    return {
      ...source,
      acquire: async (ask) => {
        this.#begin()
        const report: typeof ask.report = (event) => {
          if (event.type === 'plugin-stderr') this.#show(event.text)
          ask.report(event)
        }
        return this.#limit(await source.acquire({ ...ask, report }))
      },
    }
  }

  /** Lets waiting clients see what the plugin writes to standard error. */
  #show(text: string): void {
    for (const asker of this.#askers) asker.tell(text)
  }

  #begin(): void {
    this.#lastRunAt = this.#ports.clock.now()
    this.#isDelegated = false
    this.#isDeclined = false
  }

  #hasLeft(asker: Asker): boolean {
    return asker.left.aborted || this.#declined.has(asker)
  }

  #hasWaiting(): boolean {
    return [...this.#askers].some((asker) => !this.#hasLeft(asker))
  }

  #withTerminal(): Asker | undefined {
    return [...this.#askers].find((asker) => asker.request.isInteractive && !this.#hasLeft(asker))
  }

  /** One after the other: who stops the plugin at their terminal speaks for themselves only. */
  async #delegate(signal: AbortSignal): Promise<RunOutcome | undefined> {
    this.#isDelegated = true
    let stopped: RunOutcome | undefined
    for (;;) {
      const asker = signal.aborted ? undefined : this.#withTerminal()
      if (asker === undefined) break
      const outcome = await asker.run(signal)
      if (outcome === undefined) continue
      if (!isStopped(outcome)) return outcome
      stopped = outcome
      this.#declined.add(asker)
    }
    this.#isDeclined = stopped !== undefined && !this.#hasWaiting()
    if (this.#isDeclined) return stopped
    // From now on it is a run of ours, which nobody's leaving ends.
    this.#isDelegated = !this.#hasWaiting()
    return undefined
  }

  /** How long we may hand it out, which is never longer than the plugin said. */
  #limit(acquired: Acquired): Acquired {
    const { ttlMs, isAccountKnown } = this.#latest
    this.#ends.set(acquired.credential, acquired.expiresAt)
    this.#isUnshared = !Number.isFinite(acquired.expiresAt) && ttlMs === undefined
    const most = ttlMs ?? (isAccountKnown ? Number.POSITIVE_INFINITY : UNKNOWN_ACCOUNT_MS)
    return { ...acquired, expiresAt: Math.min(acquired.expiresAt, this.#ports.clock.now() + most) }
  }
}

const BY_HAND = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP']

/** Whether a person ended it, with Ctrl-C or by closing the window. */
function isStopped(outcome: RunOutcome): boolean {
  return outcome.ended === 'killed' && BY_HAND.includes(outcome.signal)
}

const MOST_CLIENTS = 1000

interface Handed {
  readonly lease: Lease
  readonly expiresAt: number
}

/** Which client was given which credential: one that asks again before its end was refused by the server. */
export class Given {
  readonly #clients = new Map<string, Handed>()

  remember(client: ProcessName | undefined, lease: Lease, expiresAt: number, now: number): void {
    if (client === undefined) return
    const key = keyOf(client)
    this.#clients.delete(key)
    this.#clients.set(key, { lease, expiresAt })
    if (this.#clients.size > MOST_CLIENTS) this.#forget(now)
  }

  /** What the client has and should still be able to use. */
  find(client: ProcessName | undefined, now: number): Lease | undefined {
    const handed = client && this.#clients.get(keyOf(client))
    return handed !== undefined && now < handed.expiresAt ? handed.lease : undefined
  }

  /** The expired ones, or else the one that was served longest ago. */
  #forget(now: number): void {
    for (const [key, { expiresAt }] of this.#clients) {
      if (expiresAt <= now) this.#clients.delete(key)
    }
    const [oldest] = this.#clients.keys()
    if (this.#clients.size > MOST_CLIENTS && oldest !== undefined) this.#clients.delete(oldest)
  }
}

function keyOf({ pid, startedAt }: ProcessName): string {
  return `${pid} ${startedAt ?? ''}`
}
