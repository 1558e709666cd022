import {
  type LoginContext,
  type LoginHandler,
  PermanentError,
  TemporaryError,
} from '../../src/vault/login-handler.ts'
import { LoginPace } from './login-pace.ts'
import type { ModelLogin } from './vault-model.ts'

export const HANDLERS = ['a', 'b', 'c'] as const
export const SERVERS = ['https://one.test', 'https://two.test'] as const
export const ANSWERS = [
  'fresh',
  'same',
  'shared',
  'short',
  'stale',
  'nothing',
  'temporary',
  'permanent',
  'throws',
  'hangs',
] as const
const SHORT_LIFE_MS = 5000
const STALE_LIFE_MS = 10_000
const RETRY_DELAY_MS = 3000

export type Handler = (typeof HANDLERS)[number]

/** How a handler answers from now on. */
export interface Script {
  readonly with: (typeof ANSWERS)[number]
  readonly server: (typeof SERVERS)[number]
  readonly priority: number
}

/** Login handlers that follow a script, and complain if they are called too often. */
export class ScriptedHandlers {
  /** What a handler returned last, whether the vault has noticed or not. */
  readonly returned = new Map<string, ModelLogin>()
  readonly #now: () => number
  readonly #complain: (problem: string) => void
  readonly #paces = new Map<string, LoginPace>(HANDLERS.map((id) => [id, new LoginPace()]))
  readonly #scripts = new Map<string, Script>()
  readonly #hanging = new Map<string, (isGood: boolean) => void>()
  readonly #stale = new Map<string, number>()
  /** Handlers whose last answer was nothing. */
  readonly #silent = new Set<string>()
  #count = 0

  constructor(now: () => number, complain: (problem: string) => void) {
    this.#now = now
    this.#complain = complain
  }

  script(id: Handler, script: Script): void {
    this.#scripts.set(id, script)
  }

  /** Lets a handler that hangs answer at last. */
  finish(id: Handler, isGood: boolean): void {
    this.#hanging.get(id)?.(isGood)
  }

  /** Whether its last login ended without a credential, and no other is running. */
  isOver(id: Handler): boolean {
    const pace = this.#paces.get(id)
    return pace?.hasFailed === true && !pace.isBusy
  }

  /** Whether its last login returned nothing, and no other is running. */
  returnedNothing(id: string): boolean {
    return this.#silent.has(id) && this.#paces.get(id)?.isBusy === false
  }

  /** What it returned has served for long enough: earlier refusals are forgotten. */
  forgive(id: string): void {
    this.#paces.get(id)?.forgive()
  }

  handlerOf(id: Handler): LoginHandler {
    return async ({ attempt, refused, signal }: LoginContext) => {
      const problem = this.#paces.get(id)?.begins(this.#now(), attempt, refused !== undefined)
      if (problem !== undefined) this.#complain(`${id} ${problem}`)
      if (signal.aborted) this.#complain(`${id} was asked after the end`)
      await ownTurn(id)
      const script = this.#scripts.get(id) ?? { with: 'nothing', server: SERVERS[0], priority: 0 }
      return script.with === 'hangs' ? this.#hang(id, script) : this.#answer(id, script)
    }
  }

  async #hang(id: Handler, script: Script) {
    const isGood = await new Promise<boolean>((resolve) => this.#hanging.set(id, resolve))
    this.#hanging.delete(id)
    return this.#answer(id, { ...script, with: isGood ? 'fresh' : 'permanent' })
  }

  #answer(id: Handler, script: Script) {
    const now = this.#now()
    const pace = this.#paces.get(id)
    this.#silent.delete(id)
    switch (script.with) {
      case 'nothing':
        this.#silent.add(id)
        pace?.ended(now, false)
        return undefined
      case 'permanent':
        pace?.ended(now, false)
        throw new PermanentError('for good')
      case 'temporary':
        pace?.willRetry(now, RETRY_DELAY_MS)
        throw new TemporaryError('busy', { delayMs: RETRY_DELAY_MS })
      case 'throws':
        pace?.willRetry(now)
        throw new Error('broken')
      default:
        pace?.ended(now, true)
        return this.#login(id, script)
    }
  }

  #login(id: Handler, { with: answer, server, priority }: Script) {
    const now = this.#now()
    this.#count += 1
    const token =
      answer === 'same' ? `${id}-same` : answer === 'shared' ? 'shared' : `${id}-${this.#count}`
    const stale = answer === 'stale' ? (this.#stale.get(id) ?? 0) + 1 : 0
    this.#stale.set(id, stale)
    if (answer === 'stale') {
      // The clock may be wrong: it is used for a while anyway.
      const lifetimeMs = Math.max(STALE_LIFE_MS, 1000 * 2 ** (stale - 1))
      this.returned.set(id, { token, server, priority, expiresAt: now + lifetimeMs })
      return { server, token, priority, expiration: new Date(now - 1000) }
    }
    const expiresAt = answer === 'short' ? now + SHORT_LIFE_MS : Number.POSITIVE_INFINITY
    this.returned.set(id, { token, server, priority, expiresAt })
    const expiration = answer === 'short' ? new Date(expiresAt) : undefined
    return { server, token, priority, expiration }
  }
}

/** Gives each handler its own turn of the event loop, so that the order in which they return is known. */
async function ownTurn(id: Handler): Promise<void> {
  for (let turn = 0; turn <= 2 * HANDLERS.indexOf(id); turn += 1) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}
