import { beforeEach, describe, expect, it } from 'vitest'
import { ClosedError, PluginExitedError } from '../../src/errors/index.ts'
import { Keeper } from '../../src/keeper/keeper.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { HandSource, plainCrypto } from './hand-source.ts'

let keeper: Keeper
let source: HandSource
beforeEach(() => {
  source = new HandSource()
  keeper = new Keeper(source, { clock: new FakeClock(1_000_000), crypto: plainCrypto })
})

describe('at the request of a user, a keeper', () => {
  const hold = async (token: string): Promise<void> => {
    const lease = keeper.lease()
    source.asks.at(-1)?.answer(token)
    await lease
  }

  it('acquires a new credential while requests use the old one', async () => {
    await hold('A')
    const renewed = keeper.renew()
    expect((await keeper.lease()).authorization).toBe('Bearer A')
    source.asks[1]?.answer('B')
    await renewed
    expect((await keeper.lease()).authorization).toBe('Bearer B')
    expect(source.asks).toHaveLength(2)
  })

  it('rejects with the reason if the run fails, and keeps the old credential', async () => {
    await hold('A')
    const renewed = keeper.renew()
    source.asks[1]?.fail(new PluginExitedError('hand', 3))
    await expect(renewed).rejects.toBeInstanceOf(PluginExitedError)
    expect((await keeper.lease()).authorization).toBe('Bearer A')
  })

  it('joins the run in flight, and lets a waiting caller abort', async () => {
    const lease = keeper.lease()
    const leaving = new AbortController()
    const gone = keeper.renew(leaving.signal)
    const renewed = keeper.renew()
    leaving.abort(new Error('left'))
    await expect(gone).rejects.toThrow('left')
    source.asks[0]?.answer('A')
    await Promise.all([lease, renewed])
    expect(source.asks).toHaveLength(1)
  })

  it('drops its credential, and does not reuse its connections', async () => {
    await hold('A')
    const old = await keeper.lease()
    keeper.forget()
    expect(keeper.status()).toMatchObject({ state: 'empty' })
    expect(old.resources.isRetired).toBe(true)
    await hold('A')
    const next = await keeper.lease()
    expect([next.authorization, next.resources === old.resources]).toEqual(['Bearer A', false])
  })

  it('rejects waiting callers when it is closed', async () => {
    await hold('A')
    const renewed = keeper.renew()
    await keeper.close()
    await expect(renewed).rejects.toBeInstanceOf(ClosedError)
    await expect(keeper.renew()).rejects.toBeInstanceOf(ClosedError)
  })
})
