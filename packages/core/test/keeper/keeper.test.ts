import { beforeEach, describe, expect, it } from 'vitest'
import { ClosedError, PluginExitedError } from '../../src/errors/index.ts'
import { Keeper } from '../../src/keeper/keeper.ts'
import type { CredentialEvent } from '../../src/ports/observer.ts'
import { Secret } from '../../src/secret/secret.ts'
import type { Source } from '../../src/sources/source.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { plainCrypto as crypto, HandSource, settled } from './hand-source.ts'

const refusal = { status: 401, headers: {} }
let clock: FakeClock
let source: HandSource
let keeper: Keeper
let events: CredentialEvent[]

beforeEach(() => {
  clock = new FakeClock(1_000_000)
  source = new HandSource()
  keeper = new Keeper(source, { clock, crypto })
  events = []
  keeper.watch((event) => events.push(event))
})

const typesOf = () => events.map(({ type }) => type)

describe('a keeper', () => {
  it('runs the source once for any number of callers', async () => {
    const leases = Array.from({ length: 1000 }, () => keeper.lease())
    source.asks[0]?.answer('A')
    const tickets = new Set((await Promise.all(leases)).map((lease) => lease.ticket))
    expect([source.asks.length, tickets.size]).toEqual([1, 1])
  })

  it('answers without a promise while it holds a good credential', async () => {
    const first = keeper.lease()
    source.asks[0]?.answer('A')
    const lease = await first
    expect(keeper.lease()).toBe(lease)
    expect(lease.authorization).toBe('Bearer A')
  })

  it('lets one caller abort, and keeps the result for the others', async () => {
    const leaving = new AbortController()
    const gone = keeper.lease(leaving.signal) as Promise<unknown>
    const stays = keeper.lease()
    leaving.abort(new Error('left'))
    await expect(gone).rejects.toThrow('left')
    expect(source.asks[0]?.signal.aborted).toBe(false)
    source.asks[0]?.answer('A')
    expect((await stays).authorization).toBe('Bearer A')
  })

  it('keeps the result even if the last caller has aborted', async () => {
    const leaving = new AbortController()
    const gone = keeper.lease(leaving.signal) as Promise<unknown>
    leaving.abort(new Error('left'))
    await expect(gone).rejects.toThrow('left')
    source.asks[0]?.answer('A')
    await settled()
    expect(keeper.lease()).not.toBeInstanceOf(Promise)
    expect(source.asks).toHaveLength(1)
  })

  it('rejects all callers with the error of a failed run and the time of the next try, and does not run until then', async () => {
    const waiting = [keeper.lease(), keeper.lease()] as Promise<unknown>[]
    source.asks[0]?.fail(new PluginExitedError('hand', 3))
    for (const each of waiting)
      await expect(each).rejects.toMatchObject({ code: 'ERR_PLUGIN_EXITED' })
    expect(() => keeper.lease()).toThrow(expect.objectContaining({ nextTryAt: 1_001_000 }))
    expect(source.asks).toHaveLength(1)
    clock.advance(1000)
    const again = keeper.lease()
    source.asks[1]?.answer('B')
    expect((await again).authorization).toBe('Bearer B')
  })

  it('rejects waiting callers with the error of their run, even if the pause is over by then', async () => {
    keeper = new Keeper(source, { clock, crypto }, { backoffFirstMs: 1 })
    // The pause passes between the failure and the moment the caller goes on.
    keeper.watch(({ type }) => {
      if (type === 'run-failed') clock.jumpTo(clock.now() + 10)
    })
    const waiting = keeper.lease() as Promise<unknown>
    source.asks[0]?.fail(new PluginExitedError('hand', 3))
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_PLUGIN_EXITED' })
    expect(source.asks).toHaveLength(1)
  })

  it('refreshes ahead of expiry in the background, while no caller waits', async () => {
    const first = keeper.lease()
    source.asks[0]?.answer('A', clock.now() + 60_000)
    await first
    await keeper.lease()
    clock.advance(50_000)
    expect(source.asks[1]?.reason).toBe('ahead')
    expect(keeper.lease()).toMatchObject({ authorization: 'Bearer A' })
    source.asks[1]?.answer('B', clock.now() + 60_000)
    await settled()
    expect(keeper.lease()).toMatchObject({ authorization: 'Bearer B' })
  })

  it('survives a sleep of the machine: the wall clock decides, not the timer', async () => {
    const first = keeper.lease()
    source.asks[0]?.answer('A', clock.now() + 60_000)
    await first
    clock.jumpTo(clock.now() + 3_600_000)
    const woken = keeper.lease()
    expect(woken).toBeInstanceOf(Promise)
    source.asks[1]?.answer('B')
    expect((await woken).authorization).toBe('Bearer B')
  })

  it('stops the run, rejects waiting callers and refuses further calls after close()', async () => {
    const waiting = keeper.lease() as Promise<unknown>
    await keeper.close()
    await expect(waiting).rejects.toBeInstanceOf(ClosedError)
    expect(source.asks[0]?.signal.aborted).toBe(true)
    expect(() => keeper.lease()).toThrow(ClosedError)
  })

  it('is not stopped by an observer that throws', async () => {
    keeper.watch(() => {
      throw new Error('bad observer')
    })
    const lease = keeper.lease()
    source.asks[0]?.answer('A')
    expect((await lease).authorization).toBe('Bearer A')
  })
})

describe('a refused lease', () => {
  async function hold(token: string) {
    const lease = keeper.lease()
    source.asks.at(-1)?.answer(token)
    return lease
  }

  it('is replaced by one run for all refused requests', async () => {
    const old = await hold('A')
    const better = Array.from({ length: 100 }, () => keeper.replace(old, refusal))
    source.asks[1]?.answer('B')
    const tokens = (await Promise.all(better)).map((lease) => lease?.authorization)
    expect(new Set(tokens)).toEqual(new Set(['Bearer B']))
    expect(source.asks).toHaveLength(2)
    expect(source.asks[1]?.refusal).toEqual(refusal)
  })

  it('is replaced by the newer credential without a run, if it is old', async () => {
    const old = await hold('A')
    const first = keeper.replace(old, refusal)
    source.asks[1]?.answer('B')
    await first
    expect((await keeper.replace(old, refusal))?.authorization).toBe('Bearer B')
    expect(source.asks).toHaveLength(2)
  })

  it('is replaced by the run of another request, if it expired while its request was in flight', async () => {
    const first = keeper.lease()
    source.asks[0]?.answer('A', clock.now() + 60_000)
    const old = await first
    clock.jumpTo(clock.now() + 120_000)
    const second = keeper.lease()
    expect(keeper.held).toBeUndefined()
    const better = keeper.replace(old, refusal)
    source.asks[1]?.answer('B')
    expect((await better)?.authorization).toBe('Bearer B')
    expect((await second).authorization).toBe('Bearer B')
    expect(source.asks).toHaveLength(2)
  })

  it('has no replacement if the plugin returns the same credential', async () => {
    const old = await hold('A')
    const better = keeper.replace(old, refusal)
    source.asks[1]?.answer('A')
    expect(await better).toBeUndefined()
    expect(keeper.lease()).toMatchObject({ ticket: old.ticket })
  })

  it('has no replacement if the plugin fails, and is still used', async () => {
    const old = await hold('A')
    const better = keeper.replace(old, refusal)
    source.asks[1]?.fail(new PluginExitedError('hand', 1))
    expect(await better).toBeUndefined()
    expect(keeper.lease()).toMatchObject({ authorization: 'Bearer A' })
  })

  it('keeps its connections if only the token changed, and closes them with the keeper', async () => {
    const old = await hold('A')
    const ended: string[] = []
    const make = () => ({
      close: () => void ended.push('close'),
      destroy: () => void ended.push('destroy'),
    })
    const pool = old.resources.get('pool', '', make)
    const better = keeper.replace(old, refusal)
    source.asks[1]?.answer('B')
    expect((await better)?.resources.get('pool', '', make)).toBe(pool)
    expect(ended).toEqual([])
    await keeper.close()
    expect(ended.at(-1)).toBe('destroy')
  })

  it('keeps its connections even if the token expired before the next one arrived', async () => {
    const first = keeper.lease()
    source.asks[0]?.answer('A', clock.now() + 60_000)
    const old = await first
    clock.jumpTo(clock.now() + 120_000)
    const second = keeper.lease()
    source.asks[1]?.answer('B')
    expect((await second).resources).toBe(old.resources)
    expect(old.resources.isRetired).toBe(false)
  })

  it('reports its life as events', async () => {
    const old = await hold('A')
    const better = keeper.replace(old, refusal)
    source.asks[1]?.answer('B')
    await better
    expect(typesOf()).toEqual([
      'attached',
      'run-started',
      'run-succeeded',
      'refused',
      'run-started',
      'retired',
      'run-succeeded',
    ])
  })
})

describe('a listener of a keeper', () => {
  /** What the listener and an observer learn, in order. */
  function listen() {
    const heard: string[] = []
    const unsubscribe = keeper.subscribe({
      onStarted: () => heard.push('started'),
      onSettled: (result) =>
        heard.push(
          'error' in result ? `failed: ${result.error}` : `settled, same: ${result.isSame}`,
        ),
      onRetired: () => heard.push(`retired, held: ${keeper.held?.credential.authorization}`),
    })
    keeper.watch(({ type }) => heard.push(`event ${type}`))
    return { heard, unsubscribe }
  }

  it('is called before observers, even those that were added first', async () => {
    const heard: string[] = []
    keeper.watch(({ type }) => heard.push(type))
    keeper.subscribe({ onStarted: () => heard.push('listener') })
    void keeper.lease()
    expect(heard).toEqual(['attached', 'listener', 'run-started'])
  })

  it('is called for every start, end and retirement, with the state already changed', async () => {
    const { heard } = listen()
    const first = keeper.lease()
    source.asks[0]?.answer('A')
    const better = keeper.replace(await first, refusal)
    source.asks[1]?.answer('B')
    await better
    expect(heard.filter((each) => !each.startsWith('event'))).toEqual([
      'started',
      'settled, same: false',
      'started',
      'retired, held: Bearer B',
      'settled, same: false',
    ])
    expect(heard.indexOf('retired, held: Bearer B')).toBe(heard.indexOf('event retired') - 1)
  })

  it('is called for failures, including unexpected ones, and never after it was removed or the keeper closed', async () => {
    const { heard, unsubscribe } = listen()
    const renewed = keeper.renew()
    source.asks[0]?.fail(new TypeError('oops'))
    await expect(renewed).rejects.toThrow('oops')
    expect(heard).toContain('failed: TypeError: oops')
    const { heard: later } = listen()
    unsubscribe()
    const before = heard.filter((each) => !each.startsWith('event')).length
    const again = keeper.renew()
    source.asks[1]?.answer('A')
    await again
    expect(heard.filter((each) => !each.startsWith('event'))).toHaveLength(before)
    await keeper.close()
    expect(later.filter((each) => each.startsWith('retired'))).toEqual([])
  })
})

describe('a source that can be watched', () => {
  /** A file: what a run reads is what it holds when the test lets the run read. */
  function watchedFile() {
    let onChange = (): void => {}
    const order: string[] = []
    const reads: (() => void)[] = []
    const file = { content: 'A' }
    const watched: Source = {
      label: { kind: 'token-file', name: 'file' },
      watch(notify) {
        order.push('watch')
        onChange = notify
        return () => void order.push('stop')
      },
      acquire() {
        order.push('acquire')
        const credential = { token: new Secret(file.content) }
        const expiresAt = clock.now() + 60_000
        return new Promise((resolve) => reads.push(() => resolve({ credential, expiresAt })))
      },
    }
    const write = (content: string): void => {
      file.content = content
      onChange()
    }
    return { watched, order, reads, write }
  }

  it('is watched from before its first read until the keeper closes', async () => {
    const { watched, order, reads } = watchedFile()
    keeper = new Keeper(watched, { clock, crypto })
    expect(order).toEqual([])
    const lease = keeper.lease()
    reads[0]?.()
    await lease
    await keeper.close()
    expect(order).toEqual(['watch', 'acquire', 'stop'])
  })

  it('is read again right after a run during which it changed, even without a further request', async () => {
    const { watched, order, reads, write } = watchedFile()
    keeper = new Keeper(watched, { clock, crypto })
    const first = keeper.lease()
    write('B')
    reads[0]?.()
    expect((await first).authorization).toBe('Bearer A')
    reads[1]?.()
    await settled()
    expect(keeper.held?.credential.authorization).toBe('Bearer B')
    keeper.request()
    write('C')
    write('D')
    reads[2]?.()
    await settled()
    clock.advance(0)
    reads[3]?.()
    await settled()
    expect(keeper.held?.credential.authorization).toBe('Bearer D')
    expect(order.filter((each) => each === 'acquire')).toHaveLength(4)
  })
})

describe('an unexpected error of a source', () => {
  it('is an event with its stack and without the credential', async () => {
    const first = keeper.lease()
    source.asks[0]?.answer('a-token-1234', 1_000_000 + 100_000)
    await first
    const renewed = keeper.renew()
    source.asks[1]?.fail(new TypeError('x is not a function, near a-token-1234'))
    await expect(renewed).rejects.toThrow(TypeError)
    const [event, ...more] = events.filter(({ type }) => type === 'unexpected-error')
    expect(more).toEqual([])
    expect(event).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      message: 'TypeError: x is not a function, near [secret]',
      stack: expect.stringContaining('keeper.test'),
    })
    expect(JSON.stringify(event)).not.toContain('a-token-1234')
  })

  it('is not reported after close()', async () => {
    const lease = Promise.resolve(keeper.lease())
    const ended = keeper.close()
    source.asks[0]?.fail(new TypeError('aborted'))
    await expect(lease).rejects.toThrow(ClosedError)
    await ended
    await settled()
    expect(typesOf()).not.toContain('unexpected-error')
  })
})
