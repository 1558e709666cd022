import { beforeEach, describe, expect, it } from 'vitest'
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
})
