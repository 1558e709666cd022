import { nodeCrypto } from '../node/node-crypto.ts'
import { systemClock } from '../node/system-clock.ts'
import { Audience, type LoginLog } from '../vault/audience.ts'
import { Keeper } from '../vault/keeper.ts'
import type { RegisteredHandler } from '../vault/log-in.ts'
import type { LoginHandler, LoginOptions } from '../vault/login-handler.ts'
import { LoginSource } from '../vault/login-source.ts'
import { DEFAULT_VAULT, LoginVault } from '../vault/login-vault.ts'
import type { VaultStatus } from '../vault/vault-status.ts'
import type { ConnectOptions } from './connect-options.ts'
import { fallbackLogins } from './fallback-logins.ts'
import { lifecycleOf } from './open-keeper.ts'
import { type KeyIds, openLogin } from './open-login.ts'

export interface VaultOptions {
  /** How long a request may wait for a login: 60 s. Its own signal may end it sooner. */
  readonly freezeLimitMs?: number
  /** How many requests may wait at once: 10,000. */
  readonly queueLimit?: number
  /**
   * Which logins are told to people although they went well, by `logged-in` and what a handler's logger writes
   * below a warning: `all`, only each handler's `first`, or `none`. What goes wrong is always told.
   */
  readonly log?: LoginLog
}

const LOGS: readonly unknown[] = ['all', 'first', 'none'] satisfies readonly LoginLog[]

/**
 * Logins of a program: handlers that say where to connect, and as whom.
 *
 * Hand it to `connect({ vault })`. Without any handler the program's own @kubernetes/client-node says how, else the
 * kubeconfig and the pod's service account log in. Handlers run when somebody needs them, side by side; what the
 * server refuses is taken out, and when nothing is left, requests wait while all handlers log in again.
 *
 * @example
 * const vault = new Vault()
 * vault.onLogin(async ({ signal }) => ({ server, token: await fetchToken(signal) }), { id: 'corp' })
 * const cluster = await connect({ vault })
 */
export class Vault {
  readonly #options: VaultOptions
  readonly #handlers: RegisteredHandler[] = []
  #open: { readonly vault: LoginVault; users: number } | undefined

  constructor(options: VaultOptions = {}) {
    for (const name of ['freezeLimitMs', 'queueLimit'] as const) checkCount(name, options[name])
    if (options.log !== undefined && !LOGS.includes(options.log)) {
      throw new TypeError(`log must be one of ${LOGS.join(', ')}, got ${String(options.log)}`)
    }
    this.#options = options
  }

  /**
   * Adds a handler. Call it before `connect()`.
   *
   * @throws {TypeError} When the id is taken, an option makes no sense, or the vault is in use already.
   */
  onLogin(handler: LoginHandler, { id, ...options }: LoginOptions = {}): this {
    if (typeof handler !== 'function') throw new TypeError('onLogin() takes a function')
    if (this.#open !== undefined)
      throw new TypeError('this vault is in use: add handlers before connect()')
    const name = id ?? (handler.name || `login-${this.#handlers.length + 1}`)
    if (this.#handlers.some((each) => each.id === name)) {
      throw new TypeError(
        `there is a login handler ${JSON.stringify(name)} already: give this one an id of its own`,
      )
    }
    for (const count of ['retries', 'timeoutMs', 'backoffMs'] as const)
      checkCount(count, options[count])
    this.#handlers.push({ id: name, handler, options })
    return this
  }

  /** How it is doing: plain data, no secrets. Undefined before it is used. */
  status(): VaultStatus | undefined {
    return this.#open?.vault.status()
  }

  /** @internal */
  borrow(options: ConnectOptions): { vault: LoginVault; release: () => Promise<void> } {
    const open = this.#open ?? { vault: this.#make(options), users: 0 }
    this.#open = open
    open.users += 1
    let isReleased = false
    return {
      vault: open.vault,
      release: async () => {
        if (isReleased) return
        isReleased = true
        open.users -= 1
        if (open.users > 0) return
        this.#open = undefined
        await open.vault.close()
      },
    }
  }

  #make(options: ConnectOptions): LoginVault {
    const ports = { clock: systemClock, crypto: nodeCrypto }
    const { log, ...limits } = this.#options
    const audience = new Audience(log)
    const keyIds: KeyIds = new WeakMap()
    let vault: LoginVault | undefined
    const handlers = this.#handlers.length === 0 ? fallbackLogins() : this.#handlers
    const keepers = handlers.map(
      (registered) =>
        new Keeper(
          new LoginSource(registered, {
            clock: systemClock,
            open: (login) => openLogin(login, options, { audience, keyIds }),
            isDepleted: () => vault?.isDepleted ?? true,
          }),
          ports,
          lifecycleOf(options.policy ?? {}),
        ),
    )
    vault = new LoginVault(keepers, { ...ports, audience }, { ...DEFAULT_VAULT, ...limits })
    return vault
  }
}

function checkCount(name: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
    throw new TypeError(`${name} must be a whole number above 0, got ${String(value)}`)
  }
}
