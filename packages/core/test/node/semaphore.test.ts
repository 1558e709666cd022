import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Semaphore } from '../../src/node/semaphore.ts'

/** Lets everything that is ready go on. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Asks for places and writes down who gets one. */
function ask(slots: Semaphore) {
  const got: string[] = []
  const places = new Map<string, () => void>()
  return {
    got,
    ask(name: string, signal?: AbortSignal): void {
      slots.take(signal).then(
        (giveBack) => {
          got.push(name)
          places.set(name, giveBack)
        },
        () => got.push(`${name} left`),
      )
    },
    leave: (name: string): void => places.get(name)?.(),
  }
}

describe('places', () => {
  it('are handed out at once while there are any', async () => {
    const slots = new Semaphore(2)
    const people = ask(slots)
    for (const name of ['a', 'b', 'c']) people.ask(name)
    await settle()
    expect([people.got, slots.taken]).toEqual([['a', 'b'], 2])
  })

  it('go to who waits longest, also when somebody asks in that moment', async () => {
    const slots = new Semaphore(1)
    const people = ask(slots)
    for (const name of ['a', 'b', 'c']) people.ask(name)
    await settle()
    people.leave('a')
    people.ask('d')
    await settle()
    people.leave('b')
    people.leave('b')
    await settle()
    expect([people.got, slots.taken]).toEqual([['a', 'b', 'c'], 1])
  })

  it('are not kept for who left the queue', async () => {
    const slots = new Semaphore(1)
    const people = ask(slots)
    const abort = new AbortController()
    people.ask('a')
    people.ask('b', abort.signal)
    people.ask('c')
    abort.abort()
    await settle()
    people.leave('a')
    await settle()
    people.leave('c')
    expect([people.got, slots.taken]).toEqual([['a', 'b left', 'c'], 0])
  })

  it('are not given to who left before asking', async () => {
    const slots = new Semaphore(1)
    const reason = new Error('gone')
    await expect(slots.take(AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(slots.taken).toBe(0)
  })

  it('stay taken when the signal is aborted after they were given', async () => {
    const slots = new Semaphore(1)
    const abort = new AbortController()
    const giveBack = await slots.take(abort.signal)
    abort.abort()
    expect(slots.taken).toBe(1)
    giveBack()
    expect(slots.taken).toBe(0)
  })

  it('become more for those who wait, in order, before anybody new', async () => {
    const slots = new Semaphore(1)
    const people = ask(slots)
    for (const name of ['a', 'b', 'c', 'd']) people.ask(name)
    await settle()
    slots.limit = 3
    people.ask('e')
    await settle()
    expect([people.got, slots.taken, slots.limit]).toEqual([['a', 'b', 'c'], 3, 3])
  })

  it('become fewer as they come back', async () => {
    const slots = new Semaphore(3)
    const people = ask(slots)
    for (const name of ['a', 'b', 'c', 'd']) people.ask(name)
    await settle()
    slots.limit = 1
    people.leave('a')
    people.leave('b')
    await settle()
    expect([people.got, slots.taken]).toEqual([['a', 'b', 'c'], 1])
    people.leave('c')
    await settle()
    expect([people.got, slots.taken]).toEqual([['a', 'b', 'c', 'd'], 1])
  })

  it('are never more than the limit, and everybody gets one in the order of asking', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.constantFrom('ask', 'leave'), { maxLength: 40 }),
        async (limit, moves) => {
          const slots = new Semaphore(limit)
          const people = ask(slots)
          let asked = 0
          for (const move of moves) {
            if (move === 'ask') people.ask(String(asked++))
            else people.leave(people.got[Math.floor(people.got.length / 2)] ?? '')
            await settle()
            expect(slots.taken).toBeLessThanOrEqual(limit)
          }
          for (let name = 0; name < asked; name += 1) {
            people.leave(String(name))
            await settle()
          }
          expect(people.got).toEqual(Array.from({ length: asked }, (_, name) => String(name)))
          expect(slots.taken).toBe(0)
        },
      ),
      { numRuns: 50 },
    )
  })
})
