import type { LoginOutcome } from '../../src/errors/index.ts'
import type { Lease } from '../../src/keeper/lease.ts'
import { exactTime } from './exact-time.ts'
import {
  HANDLERS,
  type Handler,
  type Script,
  ScriptedHandlers,
  type SERVERS,
} from './scripted-handlers.ts'
import { type ModelLogin, VaultModel } from './vault-model.ts'
import { openScene } from './vault-scene.ts'

const FREEZE_MS = 60_000
const QUEUE_LIMIT = 6
const FORGIVEN_AFTER_MS = 60_000
/** The vault checks its handlers no more often than this, so a request may wait this much longer, or be overtaken. */
const CHECK_MS = 20

export type Command =
  | ({ readonly do: 'answer'; readonly handler: Handler } & Script)
  | { readonly do: 'finish'; readonly handler: Handler; readonly isGood: boolean }
  | { readonly do: 'request'; readonly origin: (typeof SERVERS)[number] | undefined }
  | { readonly do: 'cancel' | 'refuse' | 'accept'; readonly which: number }
  | { readonly do: 'wait'; readonly milliseconds: number }
  | { readonly do: 'close' }

interface Asked {
  readonly name: string
  readonly origin: string | undefined
  readonly until: number
  readonly abort: AbortController
  /** Since when there has been something for it. */
  possibleSince?: number | undefined
  /** Since when nothing can come for it. */
  overSince?: number | undefined
  /** When nothing could come for it last: a later request may have asked the handlers again since. */
  lastOverAt?: number
}

interface Given {
  readonly lease: Lease
  readonly login: ModelLogin
}

/** A vault and the model beside it. Whatever they disagree about is a problem. */
export class World {
  readonly problems: string[] = []
  readonly #model = new VaultModel(HANDLERS)
  readonly #handlers = new ScriptedHandlers(
    () => this.#now,
    (problem) => this.problems.push(problem),
  )
  readonly #scene = openScene(
    Object.fromEntries(HANDLERS.map((id) => [id, this.#handlers.handlerOf(id)])),
    { freezeLimitMs: FREEZE_MS, queueLimit: QUEUE_LIMIT, priorityGraceMs: 0 },
  )
  readonly #time = exactTime(this.#scene.clock)
  readonly #firstSeenAt = new Map<string, number>()
  readonly #waiting = new Set<Asked>()
  readonly #given: Given[] = []
  #count = 0
  #isClosed = false

  constructor() {
    // The model learns of a login when the vault has it, not when the handler returns.
    this.#scene.vault.watch(({ type, source: { name } }) => {
      const login = this.#handlers.returned.get(name)
      if (type === 'run-succeeded' && login !== undefined) {
        this.#model.returned(name, login)
        const key = keyOf(login)
        this.#firstSeenAt.set(key, this.#firstSeenAt.get(key) ?? this.#now)
      }
      // Also between two checks: another request may ask the handlers again at the same moment.
      for (const asked of this.#waiting) if (this.#isOver(asked)) asked.lastOverAt = this.#now
    })
  }

  get #now(): number {
    return this.#scene.clock.now()
  }

  async run(commands: readonly Command[]): Promise<void> {
    for (const command of [...commands, { do: 'close' } as const]) {
      await this.#perform(command)
      await this.#time.pass(0, () => this.#check())
      if (this.problems.length > 0) break
    }
    await this.#scene.vault.close()
  }

  #perform(command: Command): void | Promise<void> {
    switch (command.do) {
      case 'answer':
        return this.#handlers.script(command.handler, command)
      case 'finish':
        return this.#handlers.finish(command.handler, command.isGood)
      case 'request':
        void this.#request(command.origin)
        return
      case 'cancel':
        return this.#cancel(command.which)
      case 'refuse':
        return this.#refuse(command.which)
      case 'accept':
        return this.#accept(command.which)
      case 'wait':
        return this.#time.pass(command.milliseconds, () => this.#check())
      case 'close':
        this.#isClosed = true
        return this.#scene.vault.close()
    }
  }

  async #request(origin: string | undefined): Promise<void> {
    this.#count += 1
    const name = `request ${this.#count} for ${origin ?? 'any server'}`
    const asked: Asked = {
      name,
      origin,
      until: this.#now + FREEZE_MS,
      abort: new AbortController(),
    }
    const expected = this.#expect(origin)
    try {
      const { signal } = asked.abort
      const lease = this.#scene.vault.lease(signal, origin === undefined ? {} : { origin: origin })
      const isAtOnce = !(lease instanceof Promise)
      if (isAtOnce !== (expected === 'lease')) {
        this.#complain(asked, `was ${isAtOnce ? 'served' : 'not served'}, and not ${expected}`)
      }
      if (expected === 'wait') this.#waiting.add(asked)
      this.#served(asked, await lease)
    } catch (error) {
      this.#failed(asked, error, expected)
    } finally {
      this.#waiting.delete(asked)
    }
  }

  /** What must become of a request that comes now: a lease, a place in the queue, or an error. */
  #expect(origin: string | undefined): string {
    if (this.#isClosed) return 'ERR_CLOSED'
    if (this.#model.choices(origin, this.#now).length > 0) return 'lease'
    const returnedNothing = (id: string) => this.#handlers.returnedNothing(id)
    if (this.#model.isForeign(origin, this.#now, returnedNothing)) return 'ERR_FOREIGN_ORIGIN'
    return this.#waiting.size >= QUEUE_LIMIT ? 'ERR_LOGIN_QUEUE_FULL' : 'wait'
  }

  #served(asked: Asked, lease: Lease): void {
    const server = lease.endpoint?.cluster.server
    const login = this.#model
      .choices(asked.origin, this.#now)
      .find((each) => `Bearer ${each.token}` === lease.authorization && each.server === server)
    if (login === undefined) {
      this.#complain(asked, `got ${lease.authorization} for ${server}, which is not for it now`)
      return
    }
    for (const earlier of this.#waiting) {
      if (earlier === asked) break
      if (earlier.origin === asked.origin && earlier.possibleSince === undefined)
        this.#complain(asked, `was served before ${earlier.name}`)
    }
    this.#model.taken(login, this.#now)
    this.#given.push({ lease, login })
  }

  #failed(asked: Asked, error: unknown, expected: string): void {
    const { code, outcomes = [] } = error as { code?: string; outcomes?: LoginOutcome[] }
    const { aborted, reason } = asked.abort.signal
    if (aborted) {
      if (error !== reason) this.#complain(asked, `was cancelled, and got ${error}`)
      return
    }
    const mustBe = this.#isClosed
      ? 'ERR_CLOSED'
      : expected === 'wait'
        ? 'ERR_LOGIN_FAILED'
        : expected
    if (code !== mustBe) this.#complain(asked, `got ${error}, not ${mustBe}`)
    if (code === 'ERR_LOGIN_FAILED') this.#checkEnd(asked, outcomes)
  }

  #checkEnd(asked: Asked, outcomes: readonly LoginOutcome[]): void {
    const early = asked.until - this.#now
    const { lastOverAt = Number.NEGATIVE_INFINITY } = asked
    const isOver = this.#isOver(asked) || this.#now - lastOverAt <= CHECK_MS
    if (early !== 0 && !isOver) this.#complain(asked, `gave up ${early} ms early`)
    for (const [at, id] of HANDLERS.entries()) {
      const mayBe = this.#model.outcomesOf(id, this.#now)
      const { handler, result = '' } = outcomes[at] ?? {}
      if (handler !== id || !mayBe.includes(result))
        this.#complain(asked, `got ${result} for ${handler}, expected ${mayBe} for ${id}`)
    }
  }

  /** Whether no handler can serve it any more. */
  #isOver({ origin }: Asked): boolean {
    return HANDLERS.every(
      (id) => this.#handlers.isOver(id) || this.#model.isElsewhere(id, origin, this.#now),
    )
  }

  /** After every step: no request waits beyond its limit, or for something that is available. */
  #check(): void {
    for (const asked of this.#waiting) this.#checkWaiting(asked, this.#now)
    const { waiting } = this.#scene.vault.status()
    if (waiting !== this.#waiting.size)
      this.problems.push(`${waiting} wait by the vault's count, ${this.#waiting.size} by ours`)
  }

  #checkWaiting(asked: Asked, now: number): void {
    if (now >= asked.until) this.#complain(asked, 'waits longer than it may')
    const isPossible = this.#model.choices(asked.origin, now).length > 0
    asked.possibleSince = isPossible ? (asked.possibleSince ?? now) : undefined
    if (now - (asked.possibleSince ?? now) >= CHECK_MS)
      this.#complain(asked, 'waits for something that is there')
    const isOver = this.#isOver(asked)
    if (isOver) asked.lastOverAt = now
    asked.overSince = isOver ? (asked.overSince ?? now) : undefined
    if (now - (asked.overSince ?? now) >= CHECK_MS)
      this.#complain(asked, 'waits though nothing can come')
  }

  #cancel(which: number): void {
    const asked = [...this.#waiting][which % Math.max(this.#waiting.size, 1)]
    asked?.abort.abort(new Error(`${asked.name} was cancelled`))
  }

  #refuse(which: number): void {
    const given = this.#pickGiven(which)
    if (given === undefined) return
    this.#scene.vault.reject(given.lease, { status: 401, headers: {} })
    this.#model.refused(given.login, this.#now)
  }

  #accept(which: number): void {
    const given = this.#pickGiven(which)
    if (given === undefined) return
    const { lease, login } = given
    // First the model: waiting requests continue at once.
    this.#model.accepted(login)
    this.#scene.vault.accept(lease)
    const age = this.#now - (this.#firstSeenAt.get(keyOf(login)) ?? this.#now)
    if (age < FORGIVEN_AFTER_MS) return
    for (const id of this.#model.holdersOf(login)) this.#handlers.forgive(id)
  }

  #pickGiven(which: number): Given | undefined {
    return this.#given.at(-1 - (which % Math.max(this.#given.length, 1)))
  }

  #complain({ name }: Asked, problem: string): void {
    this.problems.push(`${name} ${problem}`)
  }
}

function keyOf({ token, server }: ModelLogin): string {
  return `${token} ${server}`
}
