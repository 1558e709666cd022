// After kopf's tests/registries/test_id_detection.py.
import { connect } from 'kubecred'
import { type LoginError, type LoginHandler, Vault } from 'kubecred/vault'
import { expect, it } from 'vitest'

/** The ids of handlers in messages. None of them logs in, so all are named in the error. */
async function namesOf(...handlers: readonly LoginHandler[]): Promise<readonly string[]> {
  const vault = new Vault({ freezeLimitMs: 1 })
  for (const handler of handlers) vault.onLogin(handler)
  const error: unknown = await connect({ vault }).catch((thrown: unknown) => thrown)
  return (error as LoginError).outcomes.map(({ handler }) => handler)
}

function fn(): undefined {}

const anonymous = (): LoginHandler => () => undefined

it('a handler has the name of its function as its id', async () => {
  expect(await namesOf(fn)).toEqual(['fn'])
})

it('a bound handler has its original name as its id, however often it is bound', async () => {
  expect(await namesOf(fn.bind(undefined))).toEqual(['bound fn'])
  expect(await namesOf(fn.bind(undefined).bind(undefined))).toEqual(['bound bound fn'])
})

it('handlers without a name are numbered', async () => {
  expect(await namesOf(anonymous(), fn, anonymous())).toEqual(['login-1', 'fn', 'login-3'])
})

it('two handlers with the same name are an error at once', () => {
  const vault = new Vault().onLogin(fn)
  expect(() => vault.onLogin(fn)).toThrow(/there is already a login handler "fn"/)
  expect(() => vault.onLogin(anonymous(), { id: 'fn' })).toThrow(/give this one another id/)
  expect(() => vault.onLogin(fn, { id: 'other' })).not.toThrow()
})
