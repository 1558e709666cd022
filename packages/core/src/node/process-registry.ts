import { randomBytes } from 'node:crypto'
import type { Keeper } from '../keeper/keeper.ts'
import { AbortableQueue } from '../lifecycle/abortable-queue.ts'
import type { Turns } from '../ports/signer-channel.ts'
import type { OidcSession } from '../sources/oidc-source.ts'

const PLACE = Symbol.for('kubecred/1')

/** How many plugins may run at once in this process, unless somebody says otherwise. */
const DEFAULT_PROCESS_LIMIT = 8

interface Shared {
  readonly keeper: Keeper
  users: number
}

interface SharedTurns {
  readonly turns: Slots
  users: number
}

/** What all copies of this package in one process share. */
export interface ProcessRegistry {
  /** Keepers of exec plugins by digest of the whole identity. */
  readonly keepers: Map<string, Shared>
  /** Logins at OpenID Connect issuers, by digest of each refresh token they had. */
  readonly logins: Map<string, OidcSession>
  /** Signers, which are asked one thing at a time, by digest of their configuration. */
  readonly signers: Map<string, SharedTurns>
  /** Places for running plugins. */
  readonly slots: Slots
  /** How to end each plugin that runs now: called when the process ends, so that none is left behind. */
  readonly running: Set<() => void>
  /** Ends them when a signal ends us; one for all copies, so that each can take it back. */
  readonly onSignal: (signal: NodeJS.Signals) => void
  /** Key of all digests: they mean nothing outside this process. */
  readonly hmacKey: Buffer
}

/**
 * The one piece of state that belongs to the process and not to an object.
 *
 * Two copies of the package (two versions in one dependency tree) find the same registry, so that a
 * plugin still runs once and the limit still holds.
 */
export function processRegistry(): ProcessRegistry {
  const global = globalThis as { [PLACE]?: ProcessRegistry }
  global[PLACE] ??= makeRegistry()
  return global[PLACE]
}

function makeRegistry(): ProcessRegistry {
  const running = new Set<() => void>()
  const endAll = (): void => {
    for (const end of running) end()
  }
  process.once('exit', endAll)
  return {
    onSignal(signal) {
      // Somebody else decides what the signal means; if they exit, we hear of it.
      if (process.listenerCount(signal) > 1) return
      endAll()
      stopListening()
      process.kill(process.pid, signal)
    },
    keepers: new Map(),
    logins: new Map(),
    signers: new Map(),
    slots: new Slots(DEFAULT_PROCESS_LIMIT),
    running,
    hmacKey: randomBytes(32),
  }
}

/** Signals that end a process without an `exit` event. */
const DEADLY = ['SIGINT', 'SIGQUIT', 'SIGABRT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Sees to it that a plugin ends with this process. Returns how to call it off.
 *
 * Signals are listened for only while a plugin runs: it has a session of its own, so that a Ctrl-C at the
 * terminal reaches us and not it.
 */
export function endWithUs(end: () => void): () => void {
  const { running } = processRegistry()
  listen()
  running.add(end)
  return () => {
    running.delete(end)
    // A Ctrl-C ends the plugin and us, and Node may report the end of the plugin first: without a listener the signal
    // would then be lost. What has arrived by now is reported before a second turn of the event loop is over.
    setImmediate(() => setImmediate(() => running.size === 0 && stopListening()))
  }
}

function listen(): void {
  const { onSignal } = processRegistry()
  for (const signal of DEADLY) {
    if (!process.listeners(signal).includes(onSignal)) process.on(signal, onSignal)
  }
}

function stopListening(): void {
  for (const signal of DEADLY) process.off(signal, processRegistry().onSignal)
}

/** A keeper for as long as somebody uses it. */
export interface Borrowed {
  readonly keeper: Keeper
  /** Gives it back; the last one to do so closes it. */
  release(): Promise<void>
}

/** The keeper with this identity: an existing one if somebody uses it, else a new one. */
export function borrowKeeper(identity: string, make: () => Keeper): Borrowed {
  const { keepers } = processRegistry()
  const shared = keepers.get(identity) ?? { keeper: make(), users: 0 }
  keepers.set(identity, shared)
  shared.users += 1
  let isReleased = false
  return {
    keeper: shared.keeper,
    async release() {
      if (isReleased) return
      isReleased = true
      shared.users -= 1
      if (shared.users > 0) return
      if (keepers.get(identity) === shared) keepers.delete(identity)
      await shared.keeper.close()
    },
  }
}

/** Turns at a device for as long as somebody uses it. */
export interface BorrowedTurns {
  readonly turns: Turns
  release(): void
}

/** The turns at the signer with this identity: whoever else in this process asks it stands in the same line. */
export function borrowTurns(identity: string): BorrowedTurns {
  const { signers } = processRegistry()
  const shared = signers.get(identity) ?? { turns: new Slots(1), users: 0 }
  signers.set(identity, shared)
  shared.users += 1
  let isReleased = false
  return {
    turns: shared.turns,
    release() {
      if (isReleased) return
      isReleased = true
      shared.users -= 1
      if (shared.users === 0 && signers.get(identity) === shared) signers.delete(identity)
    },
  }
}

/** A fixed number of places, handed out in the order they were asked for. */
export class Slots {
  #limit: number
  #taken = 0
  readonly #queue = new AbortableQueue<void>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** May be changed at any time: more places are handed out at once, fewer as they come back. */
  get limit(): number {
    return this.#limit
  }

  set limit(limit: number) {
    this.#limit = limit
    while (this.#taken < limit && this.#queue.next()) this.#taken += 1
  }

  get taken(): number {
    return this.#taken
  }

  /** Resolves with a function that gives the place back, once there is one. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#taken < this.#limit) this.#taken += 1
    else await this.#queue.wait(signal)
    let isBack = false
    return () => {
      if (isBack) return
      isBack = true
      this.#giveBack()
    }
  }

  /** A place that becomes free goes straight to the caller that waits longest. */
  #giveBack(): void {
    if (this.#taken > this.#limit || !this.#queue.next()) this.#taken -= 1
  }
}
