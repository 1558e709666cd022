import { beforeEach, describe, expect, it } from 'vitest'
import { ClosedError } from '../../src/errors/index.ts'
import { OpenResources, ResourceCache } from '../../src/keeper/resource-cache.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { HandResource, settled } from './hand-source.ts'

const make = () => new HandResource()

describe('the resources of an identity', () => {
  let cache: ResourceCache
  beforeEach(() => {
    cache = new ResourceCache()
  })

  it('are made once for each kind and scope', () => {
    const pool = cache.get('pool', 'a', make)
    expect(cache.get('pool', 'a', make)).toBe(pool)
    const others = [cache.get('agent', 'a', make), cache.get('pool', 'b', make)]
    expect(new Set([pool, ...others]).size).toBe(3)
    expect(cache.get('pool', 'a', make)).toBe(pool)
    expect(cache.isRetired).toBe(false)
  })

  it('are all closed when the identity is retired, and retired when they have closed', async () => {
    const resources = ['a', 'b'].map((scope) => cache.get('pool', scope, make))
    let isDone = false
    const retired = cache.retire().then(() => {
      isDone = true
    })
    expect(cache.isRetired).toBe(true)
    expect(resources.map(({ ended }) => ended)).toEqual([['close'], ['close']])
    await settled()
    expect(isDone).toBe(false)
    for (const { finish } of resources) finish()
    await retired
  })

  it('are closed at once if they are made after that, even if closing fails', async () => {
    await cache.retire()
    const late = cache.get('pool', 'a', make)
    expect(late.ended).toEqual(['close'])
    const broken = { close: () => Promise.reject(new Error('no')), destroy: () => {} }
    expect(cache.get('pool', 'b', () => broken)).toBe(broken)
    await settled()
  })

  it('are destroyed with the reason, and the identity counts as retired', async () => {
    const pool = cache.get('pool', 'a', make)
    await cache.destroy(new ClosedError())
    expect(pool.ended).toEqual(['ClosedError'])
    expect(cache.isRetired).toBe(true)
  })

  it('of a drained scope are closed and replaced, and those of others stay', async () => {
    const [pool, other] = [cache.get('pool', 'a', make), cache.get('pool', 'b', make)]
    const drained = cache.drain('a')
    expect([pool.ended, other.ended]).toEqual([['close'], []])
    expect(cache.get('pool', 'a', make)).not.toBe(pool)
    expect(cache.get('pool', 'b', make)).toBe(other)
    pool.finish()
    await drained
    expect(cache.isRetired).toBe(false)
    await cache.drain('unknown')
  })

  it('that are still draining are destroyed by destroyClosing(), and by destroy()', async () => {
    const pool = cache.get('pool', 'a', make)
    const drained = cache.drain('a')
    const stays = cache.get('pool', 'a', make)
    await cache.destroyClosing(new ClosedError())
    await drained
    expect([pool.ended, stays.ended]).toEqual([['close', 'ClosedError'], []])
    void cache.drain('a')
    await cache.destroy(new ClosedError())
    expect(stays.ended).toEqual(['close', 'ClosedError'])
    await cache.destroy(new ClosedError())
    expect(stays.ended).toEqual(['close', 'ClosedError'])
  })

  it('that fail to close while they drain are forgotten like the others', async () => {
    const broken = {
      destroyed: 0,
      close: () => Promise.reject(new Error('no')),
      destroy() {
        this.destroyed += 1
      },
    }
    cache.get('pool', 'a', () => broken)
    await cache.drain('a')
    await cache.destroy(new ClosedError())
    expect(broken.destroyed).toBe(0)
  })
})

describe('the open resources of a keeper', () => {
  const open = (limitMs: number) => {
    const clock = new FakeClock()
    const [shared, derived] = [new ResourceCache(), new ResourceCache()]
    const resources = new OpenResources(shared, clock, limitMs)
    resources.add(derived)
    const [ofShared, ofDerived] = [shared, derived].map((cache) => cache.get('pool', 'a', make))
    return { clock, shared, derived, resources, ofShared, ofDerived }
  }

  it('of a retired credential may finish within the limit, and are destroyed after it', async () => {
    const { clock, derived, resources, ofShared, ofDerived } = open(5000)
    resources.retire(derived, undefined)
    clock.advance(4999)
    expect(ofDerived?.ended).toEqual(['close'])
    clock.advance(1)
    expect(ofDerived?.ended).toEqual(['close', 'ConnectionRetiredError'])
    expect(ofShared?.ended).toEqual([])
  })

  it('of a retired credential may take any time without a limit', () => {
    const { clock, derived, resources, ofDerived } = open(Number.POSITIVE_INFINITY)
    // A real timer with an infinite time would fire at once.
    clock.after = () => expect.fail('there is a timer')
    resources.retire(derived, undefined)
    expect(ofDerived?.ended).toEqual(['close'])
  })

  it('of a retired credential are not touched again once they have closed', async () => {
    const { clock, derived, resources, ofDerived } = open(5000)
    resources.retire(derived, undefined)
    ofDerived?.finish()
    await settled()
    clock.advance(5000)
    await resources.destroy(new ClosedError())
    expect(ofDerived?.ended).toEqual(['close'])
  })

  it('stay open if the credential in use has them too', () => {
    const { derived, resources, ofDerived } = open(5000)
    resources.retire(derived, derived)
    expect([ofDerived?.ended, derived.isRetired]).toEqual([[], false])
  })

  it('of a scope drain within the limit, shared ones too', async () => {
    const { clock, resources, ofShared, ofDerived } = open(5000)
    resources.drain('b')
    resources.drain('a')
    ofShared?.finish()
    await settled()
    clock.advance(5000)
    expect(ofShared?.ended).toEqual(['close'])
    expect(ofDerived?.ended).toEqual(['close', 'ConnectionRetiredError'])
  })

  it('are all destroyed at once, and no limit remains', async () => {
    const { clock, derived, resources, ofShared, ofDerived } = open(5000)
    resources.retire(derived, undefined)
    await resources.destroy(new ClosedError())
    clock.advance(5000)
    expect(ofShared?.ended).toEqual(['ClosedError'])
    expect(ofDerived?.ended).toEqual(['close', 'ClosedError'])
  })
})
