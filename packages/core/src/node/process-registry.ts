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
 * The first copy that needs it defines an object with these members as `globalThis[Symbol.for('kubecred/1')]`, and all
 * copies use that object. Rules for every later version:
 *
 * - A member stays, with its arguments, its result and its meaning.
 * - A later version may add optional members. It must work without them: an earlier version may have made the object.
 * - The object is frozen.
 * - Arguments and results are only functions without `this`, numbers, strings, promises and abort signals, never
 *   objects of kubecred: their methods change between versions, and programs with two versions would break.
 */
export interface ProcessProtocol {
  /**
   * Waits for one of the slots for running programs, in the order of the calls. Resolves with a function that releases
   * the slot; further calls of it do nothing.
   *
   * @throws The signal's reason, if it is aborted first.
   */
  takeSlot(signal?: AbortSignal): Promise<() => void>
  /** Sets how many programs may run at once. A higher limit applies at once, a lower one as slots are released. */
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
   * Calls `end` when this process exits, or gets a signal that it has no listener for. `end` must be synchronous.
   * Returns a function that unregisters it.
   */
  endWithProcess(end: () => void): () => void
  /** Returns the limit of slots, and how many slots are taken, locks held and `end` functions registered. */
  counts(): Readonly<Record<'slotLimit' | 'slots' | 'locks' | 'ends', number>>
}

const PROTOCOL = Symbol.for('kubecred/1')
const MEMBERS = ['takeSlot', 'setSlotLimit', 'takeLock', 'endWithProcess', 'counts'] as const

let protocol: ProcessProtocol | undefined

/** Returns the object that copies of all versions share. */
export function processProtocol(): ProcessProtocol {
  protocol ??= shareOnGlobal(PROTOCOL, makeProtocol, (found) =>
    MEMBERS.every((name) => typeof found[name] === 'function'),
  )
  return protocol
}

/** What copies of exactly this version share. */
export interface VersionRegistry {
  /** Keepers of plugins, signers and logins, by digest of their identity. */
  readonly keepers: Map<string, KeeperEntry>
  /** OpenID Connect logins, by digest of each of their refresh tokens. */
  readonly logins: Map<string, OidcSession>
  /** Publishes events on the diagnostics channel: each once, however many copies report it. */
  readonly publish: Observer
  /** The key of all digests, so that they are meaningless outside this process. */
  readonly hmacKey: Uint8Array
}

interface KeeperEntry {
  readonly keeper: Keeper
  users: number
}

let registry: VersionRegistry | undefined

/** Returns the object that copies of exactly this version share. */
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

/** A shared keeper, which stays open until its last user releases it. */
export interface SharedKeeper {
  readonly keeper: Keeper
  /** Releases the keeper; the last release closes it. Further calls do nothing. */
  release(): Promise<void>
}

/** Returns the keeper with this identity: the one in use, or a new one. */
export function acquireSharedKeeper(identity: string, make: () => Keeper): SharedKeeper {
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
 * Waits for a slot to run a program, and first for the terminal if the program is interactive. Resolves with a function
 * that releases both.
 *
 * The terminal comes first: a program that waits for it does not run, and must not occupy a slot.
 *
 * @throws The signal's reason, if it is aborted first.
 */
export async function acquireRunSlot({
  interactive,
  signal,
}: {
  readonly interactive: boolean
  readonly signal: AbortSignal
}): Promise<() => void> {
  const { takeLock, takeSlot } = processProtocol()
  const releaseTerminal = interactive ? await takeLock('terminal', signal) : () => {}
  try {
    const releaseSlot = await takeSlot(signal)
    return () => {
      releaseSlot()
      releaseTerminal()
    }
  } catch (error) {
    releaseTerminal()
    throw error
  }
}

/**
 * Returns the object that other copies of this package use, or creates it.
 *
 * If the property has an unusable value, this copy uses its own object, and its limits apply to this copy only.
 */
function shareOnGlobal<T extends object>(
  key: symbol,
  make: () => T,
  fits: (found: Partial<T>) => boolean,
): T {
  const global = globalThis as { [key]?: T | null }
  try {
    const found = global[key]
    if (found === undefined) {
      const made = Object.freeze(make())
      Object.defineProperty(global, key, { value: made })
      return made
    }
    if (found !== null && fits(found)) return found
  } catch {
    // A getter that throws, or a global object that is not extensible.
  }
  // Not an event: it concerns the process and not one connection.
  process.emitWarning(
    `globalThis[${String(key)}] cannot be used, so kubecred ${VERSION} shares nothing with other copies of kubecred in this process`,
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
      const release = await lock.take(signal)
      return () => {
        release()
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

/** Signals that terminate a process without an `exit` event. */
const TERMINATING_SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGABRT', 'SIGTERM', 'SIGHUP'] as const

/** Marks listeners of kubecred, also of copies that share nothing: they do not count as the program's own listeners. */
const ENDS_PROGRAMS = Symbol.for('kubecred/ends-programs')

/**
 * Returns the `endWithProcess` function.
 *
 * It listens for signals only while a program runs: the program has its own session, so a Ctrl-C at the terminal
 * reaches this process and not the program.
 */
function endsWithProcess(ends: Set<() => void>): ProcessProtocol['endWithProcess'] {
  const endAll = (): void => {
    for (const end of ends) end()
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    // The application handles the signal itself; if it exits, the `exit` listener runs.
    if (process.listeners(signal).some((listener) => !(ENDS_PROGRAMS in listener))) return
    endAll()
    stopListening()
    process.kill(process.pid, signal)
  }
  Object.defineProperty(onSignal, ENDS_PROGRAMS, { value: true })
  const listen = (): void => {
    for (const signal of TERMINATING_SIGNALS) {
      if (!process.listeners(signal).includes(onSignal)) process.on(signal, onSignal)
    }
  }
  const stopListening = (): void => {
    for (const signal of TERMINATING_SIGNALS) process.off(signal, onSignal)
  }
  process.once('exit', endAll)
  return (end) => {
    listen()
    ends.add(end)
    return () => {
      ends.delete(end)
      // A Ctrl-C may end both the program and this process, and Node may report the exit of the program first: without
      // a listener the signal would be lost. A signal that has arrived is reported within two turns of the event loop.
      setImmediate(() => setImmediate(() => ends.size === 0 && stopListening()))
    }
  }
}
