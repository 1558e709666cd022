import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { FreezeReporter, LoginQueue } from '../../src/vault/login-queue.ts'

const tooLate = () => new Error('too late')

describe('the queue of a vault', () => {
  it('holds a limited number of requests, and rejects others at once', async () => {
    const queue = new LoginQueue(new FakeClock(), 2)
    const waiting = [queue.wait(1000, undefined, tooLate), queue.wait(1000, undefined, tooLate)]
    expect([queue.size, queue.isFull]).toEqual([2, true])
    await expect(queue.wait(1000, undefined, tooLate)).rejects.toMatchObject({
      code: 'ERR_LOGIN_QUEUE_FULL',
      message: expect.stringContaining('2 requests'),
    })
    queue.release()
    await Promise.all(waiting)
    expect([queue.size, queue.isFull]).toEqual([0, false])
  })

  it('releases requests in the order in which they came', async () => {
    const queue = new LoginQueue(new FakeClock(), 10)
    const order: number[] = []
    const waiting = [1, 2, 3].map(async (number) => {
      await queue.wait(1000, undefined, tooLate)
      order.push(number)
    })
    queue.release()
    await Promise.all(waiting)
    expect(order).toEqual([1, 2, 3])
  })

  it('holds a request until its deadline, and not at all if that has passed', async () => {
    const clock = new FakeClock(500)
    const queue = new LoginQueue(clock, 10)
    const waiting = queue.wait(1000, undefined, tooLate)
    clock.advance(499)
    expect(queue.size).toBe(1)
    clock.advance(1)
    await expect(waiting).rejects.toThrow('too late')
    const late = queue.wait(900, undefined, tooLate)
    clock.advance(0)
    await expect(late).rejects.toThrow('too late')
    expect(queue.size).toBe(0)
  })

  it('lets a request leave when its signal is aborted, also before it waits', async () => {
    const queue = new LoginQueue(new FakeClock(), 1)
    const life = new AbortController()
    const waiting = queue.wait(1000, life.signal, tooLate)
    life.abort(new Error('left'))
    await expect(waiting).rejects.toThrow('left')
    // Even if the queue is full, because the request does not wait.
    const stays = queue.wait(1000, undefined, tooLate)
    await expect(queue.wait(1000, life.signal, tooLate)).rejects.toThrow('left')
    queue.close(new Error('closed'))
    await expect(stays).rejects.toThrow('closed')
  })
})

describe('a vault reports', () => {
  function scene() {
    const clock = new FakeClock(1000)
    const events: object[] = []
    return { clock, events, reporter: new FreezeReporter((event) => events.push(event), clock) }
  }

  it('that it is depleted once, and only if a credential was usable before', () => {
    const { events, reporter } = scene()
    reporter.noteDepleted()
    expect([events, reporter.hasUsable]).toEqual([[], false])
    reporter.noteUsable()
    expect(reporter.hasUsable).toBe(true)
    reporter.noteDepleted()
    reporter.noteDepleted()
    expect(events).toEqual([{ type: 'depleted' }])
    expect(reporter.hasUsable).toBe(false)
  })

  it('a freeze once, and how long it took at its end', () => {
    const { clock, events, reporter } = scene()
    reporter.noteThawed()
    expect(events).toEqual([])
    reporter.noteFrozen()
    clock.advance(500)
    reporter.noteFrozen()
    expect(reporter.frozenSince).toBe(1000)
    reporter.noteThawed()
    reporter.noteThawed()
    expect(events).toEqual([{ type: 'frozen' }, { type: 'thawed', frozenMs: 500 }])
    expect(reporter.frozenSince).toBeUndefined()
  })

  it('no negative time if the clock was set back', () => {
    const { clock, events, reporter } = scene()
    reporter.noteFrozen()
    clock.jumpTo(0)
    reporter.noteThawed()
    expect(events.at(-1)).toEqual({ type: 'thawed', frozenMs: 0 })
  })
})
