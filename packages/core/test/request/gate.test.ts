import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Gate, type GateEntry } from '../../src/request/gate.ts'

let now: number
let gate: Gate

beforeEach(() => {
  now = 0
  gate = new Gate({ requests: 2, streams: 2 }, () => now)
})

/** Enters when there is room. */
const enterNow = (): GateEntry => {
  const entry = gate.enter()
  if (entry instanceof Promise) throw new Error('no room')
  return entry
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Whether the gate has admitted the request by now. */
async function isIn(entry: GateEntry | Promise<GateEntry>): Promise<boolean> {
  if (!(entry instanceof Promise)) return true
  return Promise.race([
    entry.then(() => true),
    turn()
      .then(() => turn())
      .then(() => false),
  ])
}

describe('a gate', () => {
  it('admits short requests up to its limit, and the next one when one has ended', async () => {
    const first = enterNow()
    enterNow()
    const third = gate.enter()
    expect(await isIn(third)).toBe(false)
    gate.leave(first)
    expect(await isIn(third)).toBe(true)
  })

  it('admits waiting requests in order', async () => {
    const open = [enterNow(), enterNow()]
    const order: number[] = []
    const waiting = [1, 2, 3].map(async (number) => {
      const entry = await gate.enter()
      order.push(number)
      gate.leave(entry)
    })
    for (const each of open) gate.leave(each)
    await Promise.all(waiting)
    expect(order).toEqual([1, 2, 3])
  })

  it('ignores a second leave() of the same request', () => {
    const first = enterNow()
    gate.leave(first)
    gate.leave(first)
    enterNow()
    enterNow()
    expect(gate.enter()).toBeInstanceOf(Promise)
  })

  it('counts a response that stays open longer than five seconds as a stream', () => {
    enterNow()
    enterNow()
    now = 4999
    expect(gate.enter()).toBeInstanceOf(Promise)
    gate = new Gate({ requests: 2, streams: 2 }, () => now)
    enterNow()
    enterNow()
    now += 5000
    expect(gate.enter()).not.toBeInstanceOf(Promise)
    expect(() => gate.openStream()).toThrow('2 watches and other streams are open')
  })

  it('rejects a waiting request whose signal aborts', async () => {
    enterNow()
    const open = enterNow()
    const leaving = new AbortController()
    const left = gate.enter(leaving.signal)
    const stays = gate.enter()
    leaving.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    gate.leave(open)
    expect(await isIn(stays)).toBe(true)
  })

  it('rejects streams beyond its limit, and admits one again when one has ended', () => {
    const first = gate.openStream()
    gate.openStream()
    expect(() => gate.openStream()).toThrow(
      expect.objectContaining({ code: 'ERR_TOO_MANY_STREAMS' }),
    )
    gate.leave(first)
    expect(() => gate.openStream()).not.toThrow()
  })

  it('counts only old requests as streams, oldest first, and only while there is room', () => {
    gate = new Gate({ requests: 2, streams: 1 }, () => now)
    enterNow()
    now = 3000
    enterNow()
    now = 5000
    expect(gate.round).toBe(0)
    enterNow()
    expect(gate.round).toBe(1)
    now = 9000
    // The second one is old too, but there is no room for another stream.
    expect(gate.enter()).toBeInstanceOf(Promise)
    expect(gate.round).toBe(1)
  })

  it('gives the place of a request back that became a stream', () => {
    const first = enterNow()
    enterNow()
    now = 5000
    enterNow()
    gate.leave(first)
    gate.openStream()
    expect(() => gate.openStream()).toThrow('2 watches and other streams are open')
  })

  describe('with a timer', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    })
    afterEach(() => {
      vi.useRealTimers()
    })

    const pass = (milliseconds: number): void => {
      now += milliseconds
      vi.advanceTimersByTime(milliseconds)
    }

    it('admits a waiting request when the oldest one has become a stream', async () => {
      enterNow()
      enterNow()
      pass(1000)
      const third = gate.enter()
      pass(3999)
      expect(await isIn(third)).toBe(false)
      pass(1)
      expect(await isIn(third)).toBe(true)
    })

    it('checks again in a moment if there is no room for another stream', async () => {
      gate = new Gate({ requests: 1, streams: 1 }, () => now)
      const stream = gate.openStream()
      enterNow()
      const second = gate.enter()
      pass(5000)
      expect(await isIn(second)).toBe(false)
      gate.leave(stream)
      expect(await isIn(second)).toBe(true)
    })

    it('leaves no timer behind when it is closed', () => {
      for (const end of ['close', 'destroy'] as const) {
        gate = new Gate({ requests: 1, streams: 1 }, () => now)
        const others = vi.getTimerCount()
        enterNow()
        void gate.enter()
        expect(vi.getTimerCount()).toBe(others + 1)
        gate[end]()
        expect(vi.getTimerCount()).toBe(others)
      }
    })
  })
})
