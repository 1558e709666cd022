import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Lease } from '../../src/vault/lease.ts'
import { openScene, settle } from './vault-scene.ts'

const FREEZE_MS = 60_000
const FIRST_EXCLUSION_MS = 30_000
const HANDLERS = ['a', 'b', 'c'] as const
const ANSWERS = ['fresh', 'same', 'short', 'nothing', 'broken'] as const

type Handler = (typeof HANDLERS)[number]
type Answer = (typeof ANSWERS)[number]
type Command =
  | { readonly do: 'ask' | 'refuse' | 'accept' }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'answer'; readonly handler: Handler; readonly with: Answer }

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: 'ask' } as const) },
  { weight: 3, arbitrary: fc.constant({ do: 'refuse' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'accept' } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.integer({ min: 1, max: 100 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      handler: fc.constantFrom(...HANDLERS),
      with: fc.constantFrom(...ANSWERS),
    }),
  },
)

/** A vault, and beside it the little that must be true of it. */
class World {
  readonly #answers: Record<Handler, Answer> = { a: 'broken', b: 'broken', c: 'nothing' }
  readonly #scene = openScene(
    Object.fromEntries(HANDLERS.map((id) => [id, () => this.#logIn(id)])),
    { freezeLimitMs: FREEZE_MS },
  )
  readonly #refusedAt = new Map<string, number>()
  readonly #endsAt = new Map<string, number>()
  readonly #waitingSince = new Set<{ readonly at: number }>()
  readonly problems: string[] = []
  #logins = 0
  #last: Lease | undefined

  async run(commands: readonly Command[]): Promise<void> {
    for (const each of commands) {
      await this.#perform(each)
      await settle()
      this.#checkWaiting()
    }
    await this.#scene.vault.close()
  }

  async #perform(each: Command): Promise<void> {
    const { vault, clock } = this.#scene
    if (each.do === 'ask') void this.#ask()
    else if (each.do === 'answer') this.#answers[each.handler] = each.with
    else if (each.do === 'wait') await this.#wait(each.seconds)
    else if (this.#last !== undefined && each.do === 'accept') {
      vault.accept(this.#last)
      this.#refusedAt.delete(tokenOf(this.#last))
    } else if (this.#last !== undefined) {
      vault.reject(this.#last, { code: 401, header: {} })
      this.#refusedAt.set(tokenOf(this.#last), clock.now())
    }
  }

  async #wait(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      this.#scene.clock.advance(1000)
      await settle()
      this.#checkWaiting()
    }
  }

  async #ask(): Promise<void> {
    const { vault, clock } = this.#scene
    const waiting = { at: clock.now() }
    this.#waitingSince.add(waiting)
    try {
      this.#checkLease(await vault.lease())
    } catch (error) {
      const { code } = error as { code?: string }
      if (code !== 'ERR_LOGIN_FAILED' && code !== 'ERR_CLOSED') this.problems.push(String(error))
    } finally {
      this.#waitingSince.delete(waiting)
    }
  }

  #checkLease(lease: Lease): void {
    const now = this.#scene.clock.now()
    const token = tokenOf(lease)
    const refusedAt = this.#refusedAt.get(token) ?? Number.NEGATIVE_INFINITY
    if (now - refusedAt < FIRST_EXCLUSION_MS) this.problems.push(`${token} was refused just now`)
    if (now >= (this.#endsAt.get(token) ?? Number.POSITIVE_INFINITY)) {
      this.problems.push(`${token} has expired`)
    }
    this.#last = lease
  }

  #checkWaiting(): void {
    const now = this.#scene.clock.now()
    for (const { at } of this.#waitingSince) {
      if (now - at > FREEZE_MS) this.problems.push(`somebody has waited for ${now - at} ms`)
    }
  }

  #logIn(id: Handler) {
    this.#logins += 1
    const answer = this.#answers[id]
    if (answer === 'nothing') return undefined
    if (answer === 'broken') throw new Error('broken')
    const token = answer === 'same' ? `${id}-same` : `${id}-${this.#logins}`
    if (answer !== 'short') return { server: 'https://one.test', token }
    const end = this.#scene.clock.now() + 5000
    this.#endsAt.set(`Bearer ${token}`, end)
    return { server: 'https://one.test', token, expiration: new Date(end) }
  }
}

function tokenOf({ authorization = '' }: Lease): string {
  return authorization
}

it('never gives what has expired or was refused just now, and lets nobody wait longer than they may', async () => {
  const histories = fc.array(command, { minLength: 20, maxLength: 60, size: 'max' })
  await fc.assert(
    fc.asyncProperty(histories, async (commands) => {
      const world = new World()
      await world.run(commands)
      expect(world.problems).toEqual([])
    }),
    { numRuns: 60 },
  )
}, 60_000)
