import { beforeEach, describe, expect, it } from 'vitest'
import { PluginExitedError } from '../../src/errors/index.ts'
import { Keeper, WakeTimer } from '../../src/keeper/keeper.ts'
import type { CredentialEvent } from '../../src/ports/observer.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { HandResource, HandSource, namedCertificate, plainCrypto, settled } from './hand-source.ts'

const refusal = { status: 401, headers: {} }
const START = 1_000_000

let clock: FakeClock
let source: HandSource
let keeper: Keeper
let events: CredentialEvent[]
beforeEach(() => {
  clock = new FakeClock(START)
  source = new HandSource()
  keeper = new Keeper(source, { clock, crypto: plainCrypto }, { drainLimitMs: 5000 })
  events = []
  keeper.watch((event) => events.push(event))
})

const ofType = (type: CredentialEvent['type']) => events.filter((event) => event.type === type)

/** Answers the run in flight, and returns the lease. */
async function hold(...answer: Parameters<HandSource['asks'][number]['answer']>) {
  const lease = keeper.lease()
  source.asks.at(-1)?.answer(...answer)
  return await lease
}

describe('the events of a run', () => {
  it('have its reason, its time and how its process ended', async () => {
    const process = { isStarted: true, exitStatus: 0, tookMs: 40 }
    const lease = keeper.lease()
    clock.advance(50)
    source.asks[0]?.report({ type: 'plugin-started', isInteractive: false })
    source.asks[0]?.report({ type: 'plugin-ended', process })
    source.asks[0]?.report({ type: 'warning', message: 'late' })
    source.asks[0]?.answer('A', START + 60_000)
    await lease
    expect(ofType('run-started')).toMatchObject([{ reason: 'first', ahead: false }])
    expect(ofType('plugin-ended')).toMatchObject([{ process, source: source.label }])
    expect(ofType('run-succeeded')).toMatchObject([
      { reason: 'first', tookMs: 50, isSame: false, process, expiresAt: START + 60_000 },
    ])
    expect(keeper.status().lastRunMs).toBe(50)
    await keeper.lease()
    clock.advance(55_000)
    expect(ofType('run-started').at(-1)).toMatchObject({ reason: 'ahead', ahead: true })
  })

  it('have the error and the time of the next try, if it failed', async () => {
    const lease = Promise.resolve(keeper.lease())
    const error = new PluginExitedError('hand', 3)
    clock.advance(50)
    source.asks[0]?.fail(error)
    await expect(lease).rejects.toBe(error)
    expect(ofType('run-failed')).toEqual([
      {
        type: 'run-failed',
        source: source.label,
        reason: 'first',
        error,
        tookMs: 50,
        nextTryAt: START + 1050,
      },
    ])
    expect(ofType('unexpected-error')).toEqual([])
    expect([keeper.lastError, keeper.status().lastRunMs]).toEqual([error, 50])
  })

  it('never have a negative time, even if the clock was set back', async () => {
    const lease = keeper.lease()
    clock.jumpTo(START - 10)
    source.asks[0]?.answer('A')
    await lease
    expect(ofType('run-succeeded')).toMatchObject([{ tookMs: 0 }])
  })

  it('tell the source the refusal only if that is why it runs', async () => {
    const lease = await hold('A', START + 60_000)
    keeper.reject(lease, refusal)
    expect(source.asks.at(-1)).toMatchObject({ reason: 'refused', refusal })
    source.asks.at(-1)?.answer('B', START + 60_000)
    await settled()
    clock.jumpTo(START + 60_000)
    void keeper.lease()
    expect(source.asks.at(-1)).toMatchObject({ reason: 'expired', refusal: undefined })
  })
})

describe('a listener of a keeper', () => {
  it('may leave out any of its functions', async () => {
    keeper.subscribe({})
    const lease = await hold('A')
    keeper.reject(lease, refusal)
    source.asks.at(-1)?.answer('B')
    await settled()
    expect((await keeper.lease()).authorization).toBe('Bearer B')
    expect(ofType('unexpected-error')).toEqual([])
  })
})

describe('a keeper that learns what the server said', () => {
  it('reports a refusal of the lease in use, and ignores an older one', async () => {
    const old = await hold('A')
    keeper.reject(old, refusal)
    source.asks.at(-1)?.answer('B')
    await settled()
    keeper.reject(old, refusal)
    expect(ofType('refused')).toEqual([{ type: 'refused', status: 401, source: source.label }])
    expect(source.asks).toHaveLength(2)
  })

  it('has a newer lease at once, also while a run is in flight', async () => {
    const old = await hold('A')
    keeper.reject(old, refusal)
    source.asks.at(-1)?.answer('B')
    await settled()
    void keeper.renew().catch(() => {})
    expect((await keeper.replace(old, refusal))?.authorization).toBe('Bearer B')
    await keeper.close()
  })

  it('trusts a lease again that was refused during a run for another reason', async () => {
    const lease = await hold('A')
    const renewed = keeper.renew()
    keeper.reject(lease, refusal)
    expect(keeper.status().state).toBe('refused')
    keeper.accept(lease)
    expect(keeper.status().state).toBe('ready')
    source.asks.at(-1)?.answer('B')
    await renewed
    keeper.forget()
    keeper.accept(lease)
    expect(keeper.status().state).toBe('empty')
  })

  it('has nothing better without waiting, if no run may start yet', async () => {
    keeper.reject(await hold('A'), refusal)
    source.asks.at(-1)?.answer('B')
    await settled()
    const refused = await keeper.lease()
    expect(await keeper.replace(refused, refusal)).toBeUndefined()
    expect(source.asks).toHaveLength(2)
  })

  it('trusts a lease again that the server accepts, and forgets the refusals after a minute', async () => {
    const lease = await hold('A')
    keeper.reject(lease, refusal)
    source.asks.at(-1)?.fail(new PluginExitedError('hand', 3))
    await settled()
    expect(keeper.status().state).toBe('refused')
    keeper.accept(lease)
    expect(keeper.status().state).toBe('ready')
    // The first refusal still counts, so that the pause after the next one is longer.
    clock.advance(2000)
    keeper.reject(lease, refusal)
    source.asks.at(-1)?.answer('B')
    await settled()
    const next = await keeper.lease()
    clock.advance(60_000)
    keeper.accept(next)
    keeper.reject(next, refusal)
    source.asks.at(-1)?.answer('C')
    await settled()
    keeper.reject(await keeper.lease(), refusal)
    expect(keeper.status().nextTryAt).toBe(clock.now() + 1000)
  })

  it("compares the server's clock only after a credential that arrived expired", async () => {
    const date = new Date(START + 3_600_000).toUTCString()
    const skews = () => events.filter((e) => e.type === 'warning' && e.message.includes('clock'))
    const fresh = await hold('A', START + 1000)
    keeper.accept(fresh, date)
    expect(skews()).toEqual([])
    clock.advance(1000)
    const stale = await hold('B', START - 1)
    keeper.accept(stale)
    keeper.accept(stale, [date, date])
    keeper.accept(stale, new Date(clock.now()).toUTCString())
    expect(skews()).toEqual([])
    keeper.accept(stale, date)
    keeper.accept(stale, date)
    expect(skews()).toHaveLength(1)
  })
})

describe('a keeper', () => {
  it('says whether a run is in flight, also ahead of the expiry', async () => {
    expect(keeper.isRunning).toBe(false)
    await hold('A')
    expect([keeper.isRunning, keeper.lastError]).toEqual([false, undefined])
    const renewed = keeper.renew()
    expect(keeper.isRunning).toBe(true)
    source.asks.at(-1)?.answer('B')
    await renewed
  })

  it('starts a refresh with the first request of the refresh window, if no timer has fired', async () => {
    await hold('A', START + 60_000)
    await keeper.lease()
    clock.jumpTo(START + 48_000)
    expect(await keeper.lease()).toMatchObject({ authorization: 'Bearer A' })
    expect(source.asks.at(-1)?.reason).toBe('ahead')
  })

  it('never hands out an expired lease, even if no timer has fired', async () => {
    // A plugin that returns the same credential again moves the refresh behind the expiry.
    await hold('A', START + 15_000)
    await keeper.lease()
    clock.advance(12_500)
    source.asks.at(-1)?.answer('A', START + 15_000)
    await settled()
    await keeper.lease()
    clock.jumpTo(START + 15_000)
    expect(keeper.lease()).toBeInstanceOf(Promise)
    expect(source.asks.at(-1)?.reason).toBe('expired')
  })

  it('waits for the replacement of a refused lease, and runs no further time for it', async () => {
    const lease = await hold('A')
    await keeper.lease()
    keeper.reject(lease, refusal)
    const next = keeper.lease()
    expect(next).toBeInstanceOf(Promise)
    source.asks.at(-1)?.answer('B')
    expect((await next).authorization).toBe('Bearer B')
  })

  it('gives a caller the next run if the one it waited for was ahead of the expiry and failed', async () => {
    const lifecycle = { mayPrompt: true }
    keeper = new Keeper(Object.assign(source, { lifecycle }), { clock, crypto: plainCrypto })
    await hold('A', START + 60_000)
    await keeper.lease()
    clock.advance(50_000)
    expect(source.asks.at(-1)?.reason).toBe('ahead')
    clock.jumpTo(START + 60_000)
    const waiting = keeper.lease()
    source.asks.at(-1)?.fail(new PluginExitedError('hand', 3))
    await settled()
    expect(source.asks.at(-1)?.reason).toBe('first')
    source.asks.at(-1)?.answer('B')
    expect((await waiting).authorization).toBe('Bearer B')
  })

  it('can forget a credential that it never had', () => {
    keeper.forget()
    expect(keeper.status()).toMatchObject({ state: 'empty', runs: 0 })
  })

  it('sets no timer after close()', async () => {
    await hold('A', START + 60_000)
    await keeper.lease()
    await keeper.close()
    clock.advance(60_000)
    expect(source.asks).toHaveLength(1)
    expect(events.at(-1)?.type).toBe('detached')
  })
})

describe('the connections of a certificate', () => {
  const answer = (name: string) => ({ certificate: namedCertificate(name, START + 3_600_000) })
  const make = () => new HandResource()

  it('close when it is replaced by another, and are destroyed at the drain limit', async () => {
    const old = await hold(answer('one'))
    const pool = old.resources.get('pool', 'a', make)
    const renewed = keeper.renew()
    source.asks.at(-1)?.answer(answer('two'))
    await renewed
    expect(pool.ended[0]).toBe('close')
    clock.advance(5000)
    expect(pool.ended).toContain('ConnectionRetiredError')
    expect(ofType('run-succeeded').at(-1)).toMatchObject({
      replaced: { notBefore: 0, notAfter: START + 3_600_000 },
    })
  })

  it('close when it expires and the run for another has failed', async () => {
    const lease = await hold({ certificate: namedCertificate('one', START + 10_000) })
    const pool = lease.resources.get('pool', 'a', make)
    clock.advance(9000)
    source.asks.at(-1)?.fail(new PluginExitedError('hand', 3))
    await settled()
    expect(pool.ended).toEqual([])
    clock.advance(1000)
    expect([pool.ended[0], lease.resources.isRetired]).toEqual(['close', true])
  })

  it('close when it is replaced by a token, and stay if the plugin returns it again', async () => {
    const old = await hold(answer('one'))
    const same = keeper.renew()
    source.asks.at(-1)?.answer(answer('one'))
    await same
    expect(old.resources.isRetired).toBe(false)
    const renewed = keeper.renew()
    source.asks.at(-1)?.answer('token')
    await renewed
    expect(old.resources.isRetired).toBe(true)
  })

  it('replace those of a token', async () => {
    const old = await hold('token')
    const renewed = keeper.renew()
    source.asks.at(-1)?.answer(answer('one'))
    await renewed
    expect(old.resources.isRetired).toBe(true)
  })

  it('to a server that is verified differently are drained, shared ones too', async () => {
    const lease = await hold(answer('one'))
    const pools = [lease.resources, keeper.shared].map((cache) => cache.get('pool', 'a', make))
    const other = lease.resources.get('pool', 'b', make)
    keeper.drain('a')
    expect([...pools, other].map(({ ended }) => ended)).toEqual([['close'], ['close'], []])
  })

  it('are named to an observer that is added later', async () => {
    await hold(answer('one'))
    let first: CredentialEvent | undefined
    keeper.watch((event) => {
      first ??= event
    })
    expect(first).toMatchObject({ certificate: { notBefore: 0, notAfter: START + 3_600_000 } })
  })
})

describe('a timer that can be set again', () => {
  it('fires once, at the last time set, at once for the past, and at least every hour', () => {
    let fired = 0
    const timer = new WakeTimer(clock, () => {
      fired += 1
    })
    timer.set(START + 10)
    timer.set(START + 20)
    clock.advance(19)
    expect(fired).toBe(0)
    clock.advance(100)
    expect(fired).toBe(1)
    timer.set(START - 5)
    clock.advance(0)
    expect(fired).toBe(2)
    timer.set(clock.now() + 86_400_000)
    clock.advance(3_600_000)
    expect(fired).toBe(3)
    timer.set(clock.now() + 10)
    timer.cancel()
    clock.advance(10)
    expect(fired).toBe(3)
  })
})
