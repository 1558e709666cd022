import { randomBytes } from 'node:crypto'
import process from 'node:process'
import type { Keeper } from '../keeper/keeper.ts'
import type { Observer } from '../ports/observer.ts'
import type { OidcSession } from '../sources/oidc-source.ts'
import { VERSION } from '../version.ts'
import { eventPublisher } from './diagnostics-channel.ts'
import { Semaphore } from './semaphore.ts'

/**
 * What all copies of this package in one process share, whatever their versions. This protocol is frozen.
 *
 * The copy that needs it first puts one object with these members on `globalThis[Symbol.for('kubecred/1')]`, and all
 * copies use that object. Rules for every later version:
 *
 * - A member stays, with its arguments, its result and its meaning.
 * - A later version may add optional members. It must work without them: an earlier version may have made the object.
 * - The object is never changed after it was made.
 * - Only functions without `this`, numbers, strings, promises and abort signals cross it. An object of ours never does:
 *   its methods change from version to version, and programs with two versions would break.
 */
export interface ProcessProtocol {
  /**
   * Waits for one of the slots for running programs, in the order of the calls. Resolves with a function that gives
   * the slot back; further calls of it do nothing.
   *
   * @throws The signal's reason, if it is aborted first.
   */
  takeSlot(signal?: AbortSignal): Promise<() => void>
  /** Sets how many programs may run at once. More slots count at once, fewer as they are given back. */
  setSlotLimit(limit: number): void
  /**
   * Waits for the lock with this name, in the order of the calls. Resolves with a function that releases the lock;
   * further calls of it do nothing. All versions use the name `terminal` for the terminal of the process; a name that
   * one version alone uses begins with that version.
   *
   * @throws The signal's reason, if it is aborted first.
   */
  takeLock(name: string, signal?: AbortSignal): Promise<() => void>
  /**
   * Calls `end` when this process ends, by itself or by a signal that it has no listener for. `end` must be done when
   * it returns. Returns a function that calls it off.
   */
  endWithProcess(end: () => void): () => void
  /** The limit of slots, how many are taken, how many locks are held, how many ends are registered. */
  counts(): Readonly<Record<'slotLimit' | 'slots' | 'locks' | 'ends', number>>
}

const PROTOCOL = Symbol.for('kubecred/1')
const MEMBERS = ['takeSlot', 'setSlotLimit', 'takeLock', 'endWithProcess', 'counts'] as const

let protocol: ProcessProtocol | undefined

/** Returns what copies of all versions share. */
export function processProtocol(): ProcessProtocol {
  protocol ??= shareOnGlobal(PROTOCOL, makeProtocol, (found) =>
    MEMBERS.every((name) => typeof found[name] === 'function'),
  )
  return protocol
}

/** What copies of exactly this version share. */
export interface VersionRegistry {
  /** Keepers of plugins, signers and logins by digest of the whole identity. */
  readonly keepers: Map<string, SharedKeeper>
  /** Logins at OpenID Connect issuers, by digest of each refresh token they had. */
  readonly logins: Map<string, OidcSession>
  /** Publishes events on the channel of the process: each once, however many copies hear it. */
  readonly publish: Observer
  /** Key of all digests: they mean nothing outside this process. */
  readonly hmacKey: Uint8Array
}

interface SharedKeeper {
  readonly keeper: Keeper
  users: number
}

let registry: VersionRegistry | undefined

/** Returns what copies of exactly this version share. */
export function versionRegistry(): VersionRegistry {
  registry ??= shareOnGlobal(
    Symbol.for(`kubecred@${VERSION}`),
    () => ({
      keepers: new Map(),
      logins: new Map(),
      publish: eventPublisher(),
      hmacKey: randomBytes(32),
    }),
    (found) => ['keepers', 'logins', 'publish', 'hmacKey'].every((name) => name in found),
  )
  return registry
}

/** A keeper for as long as somebody uses it. */
export interface BorrowedKeeper {
  readonly keeper: Keeper
  /** Gives it back; the last one to do so closes it. */
  release(): Promise<void>
}

/** The keeper with this identity: an existing one if somebody uses it, else a new one. */
export function borrowKeeper(identity: string, make: () => Keeper): BorrowedKeeper {
  const { keepers } = versionRegistry()
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

/**
 * Waits for a slot for a program, and before it for the terminal if the program gets that. Resolves with a function
 * that gives both back.
 *
 * The terminal comes first: a program that waits for it does not run, and must take no slot from others.
 *
 * @throws The signal's reason, if it is aborted first.
 */
export async function takePlace({
  interactive,
  signal,
}: {
  readonly interactive: boolean
  readonly signal: AbortSignal
}): Promise<() => void> {
  const { takeLock, takeSlot } = processProtocol()
  const leaveTerminal = interactive ? await takeLock('terminal', signal) : () => {}
  try {
    const giveBack = await takeSlot(signal)
    return () => {
      giveBack()
      leaveTerminal()
    }
  } catch (error) {
    leaveTerminal()
    throw error
  }
}

/**
 * Returns the object that other copies of this package use, or makes it.
 *
 * If something else is there, this copy uses an object of its own: its limits then count for itself alone.
 */
function shareOnGlobal<T extends object>(
  place: symbol,
  make: () => T,
  fits: (found: Partial<T>) => boolean,
): T {
  const global = globalThis as { [place]?: T | null }
  try {
    const found = global[place]
    if (found === undefined) {
      const made = Object.freeze(make())
      Object.defineProperty(global, place, { value: made })
      return made
    }
    if (found !== null && fits(found)) return found
  } catch {
    // A getter that throws, or a global object that takes no more properties.
  }
  // Not to an observer: it is about the process and not about one connection.
  process.emitWarning(
    `globalThis[${String(place)}] cannot be used, so that kubecred ${VERSION} shares nothing with other copies of kubecred in this process`,
    { code: 'KUBECRED_NOT_SHARED' },
  )
  return make()
}

/** How many programs may run at once in this process by default. */
const DEFAULT_SLOT_LIMIT = 8

function makeProtocol(): ProcessProtocol {
  const slots = new Semaphore(DEFAULT_SLOT_LIMIT)
  const locks = new Map<string, Semaphore>()
  const ends = new Set<() => void>()
  return {
    takeSlot: (signal) => slots.take(signal),
    setSlotLimit(limit) {
      slots.limit = limit
    },
    async takeLock(name, signal) {
      signal?.throwIfAborted()
      const lock = locks.get(name) ?? new Semaphore(1)
      locks.set(name, lock)
      const giveBack = await lock.take(signal)
      return () => {
        giveBack()
        if (lock.taken === 0 && locks.get(name) === lock) locks.delete(name)
      }
    },
    endWithProcess: endsWithProcess(ends),
    counts: () => ({
      slotLimit: slots.limit,
      slots: slots.taken,
      locks: locks.size,
      ends: ends.size,
    }),
  }
}

/** Signals that end a process without an `exit` event. */
const DEADLY = ['SIGINT', 'SIGQUIT', 'SIGABRT', 'SIGTERM', 'SIGHUP'] as const

/** Marks listeners of ours, also of copies that share nothing with us: none of them decides what a signal means. */
const ENDS_PROGRAMS = Symbol.for('kubecred/ends-programs')

/**
 * Makes the function that has programs ended with this process.
 *
 * Signals are listened for only while a program runs: it has a session of its own, so that a Ctrl-C at the terminal
 * reaches us and not it.
 */
function endsWithProcess(ends: Set<() => void>): ProcessProtocol['endWithProcess'] {
  const endAll = (): void => {
    for (const end of ends) end()
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    // The program itself decides what the signal means; if it exits, `exit` follows.
    if (process.listeners(signal).some((listener) => !(ENDS_PROGRAMS in listener))) return
    endAll()
    stopListening()
    process.kill(process.pid, signal)
  }
  Object.defineProperty(onSignal, ENDS_PROGRAMS, { value: true })
  const listen = (): void => {
    for (const signal of DEADLY) {
      if (!process.listeners(signal).includes(onSignal)) process.on(signal, onSignal)
    }
  }
  const stopListening = (): void => {
    for (const signal of DEADLY) process.off(signal, onSignal)
  }
  process.once('exit', endAll)
  return (end) => {
    listen()
    ends.add(end)
    return () => {
      ends.delete(end)
      // A Ctrl-C ends the program and us, and Node may report the end of the program first: without a listener the
      // signal would then be lost. What has arrived by now is reported before a second turn of the event loop is over.
      setImmediate(() => setImmediate(() => ends.size === 0 && stopListening()))
    }
  }
}
