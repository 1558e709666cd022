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
  type ProcessId,
  type RunOutcome,
  type Source,
  showArgs,
} from 'kubecred/internal'
import type { Requester } from './agent.ts'
import { agentSource, credentialAnswer, execConfigOf } from './agent-source.ts'
import type { Answer, EntryStatus, GetRequest } from './protocol.ts'

/** How long an answer is kept if the files of the account are unknown: a change of account is noticed after this time. */
const UNKNOWN_ACCOUNT_MS = 15 * 60_000
/** Short, because people wait: after a manual login the back-off must not go on for minutes. */
const BACKOFF_LIMIT_MS = 30_000
/** A credential that has not been refused for this long counts as accepted. */
const SERVED_MS = 60_000

/** What an entry needs from the process. */
export interface EntryPorts {
  readonly clock: Clock
  readonly limits: ExecLimits
}

/** A client that asks again before expiry implies that a server refused the credential; no response is known. */
const REFUSED = { status: 401, headers: {} }

/** One identity: its keeper and the requests that wait for it. */
export class Entry {
  readonly #ports: EntryPorts
  readonly #exec: ExecConfig
  readonly #keeper: Keeper
  readonly #requesters = new Set<Requester>()
  readonly #issued = new IssuedLeases()
  /** Requesters whose user stopped the plugin at their terminal. */
  readonly #declined = new WeakSet<Requester>()
  /** The expiry that the plugin returned, before the agent shortens it. Clients receive this one. */
  readonly #ends = new WeakMap<Credential, number>()
  #latest: GetRequest
  #starter: Requester | undefined
  #lastRunAt: number | undefined
  #isUnshared = false
  /** Whether the last run was left to a requester with a terminal. */
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

  /** Whether the credential has no expiry: then only the requester that started the run receives it. */
  get isUnshared(): boolean {
    return this.#isUnshared
  }

  /** Whether the run ended because the user stopped it at the terminal. */
  isAbandoned({ left }: Requester): boolean {
    const isOver = this.#isDeclined || (this.#isDelegated && left.aborted)
    return isOver && this.#requesters.size === 0 && this.#keeper.held === undefined
  }

  /** The secrets of the credential, to be removed from text. */
  get secrets(): readonly Secret[] {
    return this.#keeper.secrets
  }

  get isIdle(): boolean {
    return this.#requesters.size === 0
  }

  /** @throws {CredentialError} */
  async get(requester: Requester): Promise<Answer> {
    const { clock } = this.#ports
    this.#latest = requester.request
    this.lastAskedAt = clock.now()
    this.#requesters.add(requester)
    try {
      const lease = await this.#leaseFor(requester)
      if (this.#isUnshared && this.#starter !== requester) return { is: 'alone' }
      const expiresAt = this.#endOf(lease)
      this.#issued.remember(requester.request.parent, lease, expiresAt, clock.now())
      const text = credentialAnswer(lease.credential, expiresAt, this.#exec.apiVersion)
      return { is: 'credential', text }
    } catch (error) {
      if (this.#isUnshared) return { is: 'alone' }
      throw error
    } finally {
      this.#requesters.delete(requester)
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
      waiting: this.#requesters.size,
      lastAskedAt: this.lastAskedAt,
      ...(this.#lastRunAt !== undefined && { lastRunAt: this.#lastRunAt }),
      ...(expiresAt !== undefined && Number.isFinite(expiresAt) && { expiresAt }),
    }
  }

  close(): Promise<void> {
    return this.#keeper.close()
  }

  /** Replaces the credential if this client already has it: asking again means that the server refused it. */
  async #leaseFor(requester: Requester): Promise<Lease> {
    const { request, left } = requester
    const refused = this.#issued.find(request.parent, this.#ports.clock.now())
    if (refused !== undefined) {
      const better = this.#counting(requester, () => this.#keeper.replace(refused, REFUSED, left))
      const lease = await better
      if (lease !== undefined) return lease
    } else this.#acceptServed()
    return this.#counting(requester, () => this.#keeper.lease(left))
  }

  /** Remembers which requester started a run. */
  #counting<T>(requester: Requester, ask: () => T): T {
    const before = this.#keeper.status().runs
    const asked = ask()
    if (this.#keeper.status().runs > before) this.#starter = requester
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
          if (event.type === 'plugin-stderr') this.#passStderr(event.text)
          ask.report(event)
        }
        return this.#limit(await source.acquire({ ...ask, report }))
      },
    }
  }

  /** Passes the standard error of the plugin to the waiting clients. */
  #passStderr(text: string): void {
    for (const requester of this.#requesters) requester.sendStderr(text)
  }

  #begin(): void {
    this.#lastRunAt = this.#ports.clock.now()
    this.#isDelegated = false
    this.#isDeclined = false
  }

  #hasLeft(requester: Requester): boolean {
    return requester.left.aborted || this.#declined.has(requester)
  }

  #hasWaiting(): boolean {
    return [...this.#requesters].some((requester) => !this.#hasLeft(requester))
  }

  #withTerminal(): Requester | undefined {
    return [...this.#requesters].find(
      (requester) => requester.request.isInteractive && !this.#hasLeft(requester),
    )
  }

  /** Tries the requesters with a terminal in turn: a user who stops the plugin decides only for their own request. */
  async #delegate(signal: AbortSignal): Promise<RunOutcome | undefined> {
    this.#isDelegated = true
    let stopped: RunOutcome | undefined
    for (;;) {
      const requester = signal.aborted ? undefined : this.#withTerminal()
      if (requester === undefined) break
      const outcome = await requester.run(signal)
      if (outcome === undefined) continue
      if (!isStopped(outcome)) return outcome
      stopped = outcome
      this.#declined.add(requester)
    }
    this.#isDeclined = stopped !== undefined && !this.#hasWaiting()
    if (this.#isDeclined) return stopped
    // From now on the agent runs the plugin, and a requester that leaves does not end the run.
    this.#isDelegated = !this.#hasWaiting()
    return undefined
  }

  /** Limits how long the credential is shared, never beyond the expiry that the plugin returned. */
  #limit(acquired: Acquired): Acquired {
    const { ttlMs, isAccountKnown } = this.#latest
    this.#ends.set(acquired.credential, acquired.expiresAt)
    this.#isUnshared = !Number.isFinite(acquired.expiresAt) && ttlMs === undefined
    const maxMs = ttlMs ?? (isAccountKnown ? Number.POSITIVE_INFINITY : UNKNOWN_ACCOUNT_MS)
    return { ...acquired, expiresAt: Math.min(acquired.expiresAt, this.#ports.clock.now() + maxMs) }
  }
}

const USER_SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP']

/** Whether the user ended it, with Ctrl-C or by closing the window. */
function isStopped(outcome: RunOutcome): boolean {
  return outcome.ended === 'killed' && USER_SIGNALS.includes(outcome.signal)
}

const MAX_CLIENTS = 1000

interface IssuedLease {
  readonly lease: Lease
  readonly expiresAt: number
}

/** Which client has which lease: a client that asks again before expiry had its credential refused by the server. */
export class IssuedLeases {
  readonly #clients = new Map<string, IssuedLease>()

  remember(client: ProcessId | undefined, lease: Lease, expiresAt: number, now: number): void {
    if (client === undefined) return
    const key = keyOf(client)
    this.#clients.delete(key)
    this.#clients.set(key, { lease, expiresAt })
    if (this.#clients.size > MAX_CLIENTS) this.#forget(now)
  }

  /** Returns the unexpired lease that the client has. */
  find(client: ProcessId | undefined, now: number): Lease | undefined {
    const issued = client && this.#clients.get(keyOf(client))
    return issued !== undefined && now < issued.expiresAt ? issued.lease : undefined
  }

  /** Drops the expired leases, or else the oldest one. */
  #forget(now: number): void {
    for (const [key, { expiresAt }] of this.#clients) {
      if (expiresAt <= now) this.#clients.delete(key)
    }
    const [oldest] = this.#clients.keys()
    if (this.#clients.size > MAX_CLIENTS && oldest !== undefined) this.#clients.delete(oldest)
  }
}

function keyOf({ pid, startedAt }: ProcessId): string {
  return `${pid} ${startedAt ?? ''}`
}
