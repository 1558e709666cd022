import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Semaphore } from '../../src/node/semaphore.ts'

/** Waits until all ready callbacks have run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Takes slots under names, and records the order in which they are granted. */
function named(slots: Semaphore) {
  const granted: string[] = []
  const releases = new Map<string, () => void>()
  return {
    granted,
    take(name: string, signal?: AbortSignal): void {
      slots.take(signal).then(
        (release) => {
          granted.push(name)
          releases.set(name, release)
        },
        () => granted.push(`${name} aborted`),
      )
    },
    release: (name: string): void => releases.get(name)?.(),
  }
}

describe('slots', () => {
  it('are granted at once while some are free', async () => {
    const slots = new Semaphore(2)
    const callers = named(slots)
    for (const name of ['a', 'b', 'c']) callers.take(name)
    await settle()
    expect([callers.granted, slots.taken]).toEqual([['a', 'b'], 2])
  })

  it('go to the longest-waiting caller, even if another calls at that moment', async () => {
    const slots = new Semaphore(1)
    const callers = named(slots)
    for (const name of ['a', 'b', 'c']) callers.take(name)
    await settle()
    callers.release('a')
    callers.take('d')
    await settle()
    callers.release('b')
    callers.release('b')
    await settle()
    expect([callers.granted, slots.taken]).toEqual([['a', 'b', 'c'], 1])
  })

  it('are not reserved for a caller that has aborted', async () => {
    const slots = new Semaphore(1)
    const callers = named(slots)
    const abort = new AbortController()
    callers.take('a')
    callers.take('b', abort.signal)
    callers.take('c')
    abort.abort()
    await settle()
    callers.release('a')
    await settle()
    callers.release('c')
    expect([callers.granted, slots.taken]).toEqual([['a', 'b aborted', 'c'], 0])
  })

  it('are not granted to a caller that has aborted before', async () => {
    const slots = new Semaphore(1)
    const reason = new Error('gone')
    await expect(slots.take(AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(slots.taken).toBe(0)
  })

  it('stay taken if the signal is aborted after they were granted', async () => {
    const slots = new Semaphore(1)
    const abort = new AbortController()
    const release = await slots.take(abort.signal)
    abort.abort()
    expect(slots.taken).toBe(1)
    release()
    expect(slots.taken).toBe(0)
  })

  it('that a higher limit adds go to waiting callers in order, before new ones', async () => {
    const slots = new Semaphore(1)
    const callers = named(slots)
    for (const name of ['a', 'b', 'c', 'd']) callers.take(name)
    await settle()
    slots.limit = 3
    callers.take('e')
    await settle()
    expect([callers.granted, slots.taken, slots.limit]).toEqual([['a', 'b', 'c'], 3, 3])
  })

  it('become fewer as they are released, after a lower limit', async () => {
    const slots = new Semaphore(3)
    const callers = named(slots)
    for (const name of ['a', 'b', 'c', 'd']) callers.take(name)
    await settle()
    slots.limit = 1
    callers.release('a')
    callers.release('b')
    await settle()
    expect([callers.granted, slots.taken]).toEqual([['a', 'b', 'c'], 1])
    callers.release('c')
    await settle()
    expect([callers.granted, slots.taken]).toEqual([['a', 'b', 'c', 'd'], 1])
  })

  it('never exceed the limit, and are granted in the order of the calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.constantFrom('take', 'release'), { maxLength: 40 }),
        async (limit, moves) => {
          const slots = new Semaphore(limit)
          const callers = named(slots)
          let taken = 0
          for (const move of moves) {
            if (move === 'take') callers.take(String(taken++))
            else callers.release(callers.granted[Math.floor(callers.granted.length / 2)] ?? '')
            await settle()
            expect(slots.taken).toBeLessThanOrEqual(limit)
          }
          for (let name = 0; name < taken; name += 1) {
            callers.release(String(name))
            await settle()
          }
          expect(callers.granted).toEqual(Array.from({ length: taken }, (_, name) => String(name)))
          expect(slots.taken).toBe(0)
        },
      ),
      { numRuns: 50 },
    )
  })
})
