import { LoginError } from '../errors/index.ts'
import { checkOptionNames } from '../errors/option-names.ts'
import { MADE_BY, VERSION } from '../version.ts'
import type { RegisteredHandler } from './log-in.ts'
import type { LoginHandler, LoginOptions } from './login-handler.ts'
import type { HandlerPorts } from './login-handlers.ts'
import type { LoginLog } from './login-source.ts'
import { DEFAULT_VAULT, VaultAccess, type VaultPolicy } from './vault-access.ts'
import type { VaultStatus } from './vault-status.ts'

/** Options of `new Vault()`. */
export interface VaultOptions {
  /**
   * How long a request may wait for a login: 60 s. It fails sooner if its signal is aborted, or if all logins end
   * without a credential.
   */
  readonly freezeLimitMs?: number
  /** How many requests may wait at once: 10,000. */
  readonly queueLimit?: number
  /**
   * How long the first login waits for handlers that are still in their first attempt and may return a higher priority:
   * 250 ms. With 0 it is used at once.
   */
  readonly priorityGraceMs?: number
  /**
   * Which successful logins are reported, by the event `logged-in` and by the handler's log lines below `warn`: `all`
   * (default), only each handler's `first`, or `none`. Failures are always reported.
   */
  readonly log?: LoginLog
}

const VAULT_OPTIONS: readonly (keyof VaultOptions)[] = [
  'freezeLimitMs',
  'queueLimit',
  'priorityGraceMs',
  'log',
]

const LOGIN_OPTIONS: readonly (keyof LoginOptions)[] = [
  'id',
  'attempts',
  'timeoutMs',
  'backoffMs',
  'errors',
]

/** kopf's names for options, and what to use here. */
const KOPF_NAMES: Readonly<Record<string, string>> = {
  retries: 'use attempts, which counts the first one too',
  timeout: 'use timeoutMs, in milliseconds',
  backoff: 'use backoffMs, in milliseconds',
  param: 'pass the value in a closure',
  registry: 'call onLogin() of the Vault that the handler is for',
}

const ERRORS: readonly unknown[] = [
  'temporary',
  'permanent',
  'ignored',
] satisfies readonly NonNullable<LoginOptions['errors']>[]

const LOGS: readonly unknown[] = ['all', 'first', 'none'] satisfies readonly LoginLog[]

/**
 * A set of login handlers: functions that return where to connect and with which credential.
 *
 * Pass it to `connect({ vault })`. Without a handler it logs in as the program's @kubernetes/client-node does, else with
 * the kubeconfig and the pod's service account. Handlers run in parallel when a request needs them. A credential that
 * the server refuses is not used for a while; if none is left, requests wait while all handlers log in again, and fail
 * if no handler can.
 *
 * @example
 * const vault = new Vault()
 * vault.onLogin(async ({ signal }) => ({ server, token: await fetchToken(signal) }), { id: 'corp' })
 * const cluster = await connect({ vault })
 */
export class Vault {
  readonly #policy: VaultPolicy
  readonly #handlers: RegisteredHandler[] = []
  #open: Open | undefined

  /** @throws {TypeError} If an option is unknown or invalid. */
  constructor(options: VaultOptions = {}) {
    checkOptionNames(options, 'new Vault()', VAULT_OPTIONS)
    const {
      freezeLimitMs = DEFAULT_VAULT.freezeLimitMs,
      queueLimit = DEFAULT_VAULT.queueLimit,
      priorityGraceMs = DEFAULT_VAULT.priorityGraceMs,
      log = DEFAULT_VAULT.log,
    } = options
    checkCount('freezeLimitMs', freezeLimitMs)
    checkCount('queueLimit', queueLimit)
    if (!(Number.isSafeInteger(priorityGraceMs) && priorityGraceMs >= 0)) {
      throw new TypeError(
        `priorityGraceMs must be 0 or a whole number above 0, got ${String(priorityGraceMs)}`,
      )
    }
    if (!LOGS.includes(log)) {
      throw new TypeError(`log must be one of ${LOGS.join(', ')}, got ${String(log)}`)
    }
    this.#policy = { freezeLimitMs, queueLimit, priorityGraceMs, log }
  }

  /**
   * Adds a handler. Call it before `connect()`, or after a `connect()` that failed.
   *
   * @throws {TypeError} If the id is taken, an option is unknown or invalid, or the vault is in use.
   */
  onLogin(handler: LoginHandler, given: LoginOptions = {}): this {
    if (typeof handler !== 'function') throw new TypeError('onLogin() takes a function')
    checkOptionNames(given, 'onLogin()', LOGIN_OPTIONS, KOPF_NAMES)
    if (this.#open !== undefined && this.#open.users > 0)
      throw new TypeError('this vault is in use: add login handlers before connect()')
    const { id, ...options } = given
    const name = id ?? (handler.name || `login-${this.#handlers.length + 1}`)
    if (this.#handlers.some((each) => each.id === name)) {
      throw new TypeError(
        `there is already a login handler ${JSON.stringify(name)}: give this one another id`,
      )
    }
    for (const count of ['attempts', 'timeoutMs', 'backoffMs'] as const)
      checkCount(count, options[count])
    if (options.errors !== undefined && !ERRORS.includes(options.errors)) {
      throw new TypeError(
        `errors must be one of ${ERRORS.join(', ')}, got ${String(options.errors)}`,
      )
    }
    void this.#open?.vault.close()
    this.#open = undefined
    this.#handlers.push({ id: name, handler, options })
    return this
  }

  /** Returns the status, without secrets. Undefined before `connect()` and after the last cluster is closed. */
  status(): VaultStatus | undefined {
    return this.#open?.vault.status()
  }

  /** @internal */
  get [MADE_BY](): string {
    return VERSION
  }

  /** @internal */
  borrow(ports: VaultPorts): { vault: VaultAccess; release: Release } {
    const open = this.#open ?? this.#make(ports)
    this.#open = open
    // After a connect() that failed, the ports of the next one are used; a vault in use keeps its own.
    if (open.users === 0) open.ports = ports
    open.users += 1
    let isReleased = false
    return {
      vault: open.vault,
      release: async (error) => {
        if (isReleased) return
        isReleased = true
        open.users -= 1
        if (open.users > 0) return
        // Keeps the failures: the next connect() must respect the handlers' pauses.
        if (error instanceof LoginError && hasOnlyFailed(open.vault)) return
        this.#open = undefined
        await open.vault.close()
      },
    }
  }

  #make(ports: VaultPorts): Open {
    const handlers = this.#handlers.length === 0 ? ports.fallbacks() : this.#handlers
    const current: HandlerPorts = {
      ...ports,
      open: (login, listener) => open.ports.open(login, listener),
    }
    const vault = new VaultAccess(handlers, current, this.#policy)
    const open: Open = { vault, ports, users: 0 }
    return open
  }
}

/** The ports that a vault needs. */
export interface VaultPorts extends HandlerPorts {
  /** The handlers of a vault that has none. */
  readonly fallbacks: () => readonly RegisteredHandler[]
}

/** An open vault, and how many clusters use it. */
interface Open {
  readonly vault: VaultAccess
  ports: VaultPorts
  users: number
}

/** @param error Why `connect()` failed, if it did. */
type Release = (error?: unknown) => Promise<void>

/** Whether every handler has failed and none has ever logged in: then there is nothing to close. */
function hasOnlyFailed(vault: VaultAccess): boolean {
  return vault
    .status()
    .logins.every(({ state, lastLoginAt }) => state === 'failed' && lastLoginAt === undefined)
}

function checkCount(name: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
    throw new TypeError(`${name} must be a whole number above 0, got ${String(value)}`)
  }
}
