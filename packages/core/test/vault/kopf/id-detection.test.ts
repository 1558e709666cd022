// After kopf's tests/registries/test_id_detection.py.
import { connect } from 'kubecred'
import { type LoginError, type LoginHandler, Vault } from 'kubecred/vault'
import { expect, it } from 'vitest'

/** What handlers are called in messages. None of them logs in, so everybody is named in the error. */
async function namesOf(...handlers: readonly LoginHandler[]): Promise<readonly string[]> {
  const vault = new Vault({ freezeLimitMs: 1 })
  for (const handler of handlers) vault.onLogin(handler)
  const error: unknown = await connect({ vault }).catch((thrown: unknown) => thrown)
  return (error as LoginError).outcomes.map(({ handler }) => handler)
}

function fn(): undefined {}

const anonymous = (): LoginHandler => () => undefined

it('a handler is called by the name of its function', async () => {
  expect(await namesOf(fn)).toEqual(['fn'])
})

it('a bound handler is called by its name too, however often it is bound', async () => {
  expect(await namesOf(fn.bind(undefined))).toEqual(['bound fn'])
  expect(await namesOf(fn.bind(undefined).bind(undefined))).toEqual(['bound bound fn'])
})

it('handlers without a name are counted', async () => {
  expect(await namesOf(anonymous(), fn, anonymous())).toEqual(['login-1', 'fn', 'login-3'])
})

it('two handlers of one name are a mistake that shows at once', () => {
  const vault = new Vault().onLogin(fn)
  expect(() => vault.onLogin(fn)).toThrow(/there is a login handler "fn" already/)
  expect(() => vault.onLogin(anonymous(), { id: 'fn' })).toThrow(/give this one an id of its own/)
  expect(() => vault.onLogin(fn, { id: 'other' })).not.toThrow()
})
