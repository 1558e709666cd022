import { describe, expect, it } from 'vitest'
import type { HeldLease } from '../../src/keeper/lease.ts'
import { Exclusions, RefusedLogins } from '../../src/vault/refused-logins.ts'

const SECOND = 1000
const lease = (identity: string, digest: string) => ({ identity, digest }) as HeldLease

describe('a refused credential', () => {
  it('is excluded for 30 s, and not a millisecond longer', () => {
    const all = new Exclusions()
    expect(all.isExcluded('a', 0)).toBe(false)
    all.refuse('a', 0)
    expect(all.endOf('a')).toBe(30 * SECOND)
    expect(all.isExcluded('a', 30 * SECOND - 1)).toBe(true)
    expect(all.isExcluded('a', 30 * SECOND)).toBe(false)
    expect(all.isExcluded('b', 0)).toBe(false)
  })

  it('is not excluded longer by refusals of requests that were in flight', () => {
    const all = new Exclusions()
    all.refuse('a', 0)
    all.refuse('a', 10 * SECOND)
    expect(all.endOf('a')).toBe(30 * SECOND)
  })

  it('is excluded for twice as long each time that it is refused again, up to ten minutes', () => {
    const all = new Exclusions()
    const pauses: number[] = []
    let now = 0
    for (let time = 0; time < 7; time += 1) {
      all.refuse('a', now)
      pauses.push(((all.endOf('a') ?? 0) - now) / SECOND)
      now = all.endOf('a') ?? 0
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 600, 600])
  })

  it('stays excluded for others while one request tries it, whose refusal counts', () => {
    const all = new Exclusions()
    all.refuse('a', 0)
    all.noteTry('a', 40 * SECOND)
    expect(all.isExcluded('a', 41 * SECOND)).toBe(true)
    all.refuse('a', 41 * SECOND)
    expect(all.endOf('a')).toBe(101 * SECOND)
  })

  it('is not tried by a request while it is excluded', () => {
    const all = new Exclusions()
    all.refuse('a', 0)
    all.noteTry('a', 10 * SECOND)
    expect(all.endOf('a')).toBe(30 * SECOND)
  })

  it('is not excluded any more once a server accepted it, and its pauses begin anew', () => {
    const all = new Exclusions()
    all.refuse('a', 0)
    expect(all.accept('a')).toBe(true)
    expect(all.accept('a')).toBe(false)
    expect([all.endOf('a'), all.isExcluded('a', 1)]).toEqual([undefined, false])
    all.refuse('a', 0)
    expect(all.endOf('a')).toBe(30 * SECOND)
  })

  it('is not excluded any more if the clock was set back by more than the longest pause', () => {
    const all = new Exclusions()
    all.refuse('a', 600 * SECOND)
    expect(all.isExcluded('a', 30 * SECOND)).toBe(true)
    expect(all.isExcluded('a', 30 * SECOND - 1)).toBe(false)
  })

  it('is forgotten after a thousand others, the oldest refusal first', () => {
    const all = new Exclusions()
    for (let index = 0; index < 1000; index += 1) all.refuse(`${index}`, index)
    // Refused again: now the newest.
    all.refuse('0', 60 * SECOND)
    all.refuse('new', 60 * SECOND)
    expect(all.endOf('1')).toBeUndefined()
    expect(['0', '2', '999', 'new'].map((each) => all.endOf(each) !== undefined)).toEqual([
      true,
      true,
      true,
      true,
    ])
  })
})

describe('a refused login', () => {
  it('is excluded with every login of the same credential if the server responded', () => {
    const all = new RefusedLogins()
    all.add(lease('jane', 'one'), 401, 0)
    expect(all.has(lease('jane', 'two'), 1)).toBe(true)
    expect(all.has(lease('ann', 'one'), 1)).toBe(false)
  })

  it('is excluded alone if there was no response: the same credential may work with another CA', () => {
    const all = new RefusedLogins()
    all.add(lease('jane', 'one'), 0, 0)
    expect(all.has(lease('jane', 'two'), 1)).toBe(false)
    expect(all.has(lease('jane', 'one'), 1)).toBe(true)
  })

  it('may be tried again when both its exclusions have ended, by one request', () => {
    const all = new RefusedLogins()
    const one = lease('jane', 'one')
    expect(all.endOf(one)).toBeUndefined()
    all.add(one, 0, 0)
    expect(all.endOf(one)).toBe(30 * SECOND)
    all.add(one, 401, 10 * SECOND)
    expect(all.endOf(one)).toBe(40 * SECOND)
    all.noteTry(one, 50 * SECOND)
    expect(all.has(one, 51 * SECOND)).toBe(true)
    expect(all.has(lease('jane', 'two'), 51 * SECOND)).toBe(true)
    expect(all.has(lease('ann', 'one'), 51 * SECOND)).toBe(true)
  })

  it('is forgotten as a whole once a server accepted it', () => {
    const all = new RefusedLogins()
    const one = lease('jane', 'one')
    expect(all.forget(one)).toBe(false)
    for (const status of [0, 401]) {
      all.add(one, status, 0)
      expect(all.forget(one)).toBe(true)
      expect(all.has(one, 1)).toBe(false)
    }
    all.add(one, 0, 0)
    all.add(one, 401, 0)
    expect(all.forget(one)).toBe(true)
    expect(all.endOf(one)).toBeUndefined()
  })
})
