import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { type ConnectionFields, Vault } from 'kubecred/vault'
import { afterEach, beforeEach, expect, it } from 'vitest'

let one: Sandbox
let two: Sandbox
beforeEach(async () => {
  one = await startSandbox()
  two = await startSandbox()
})
afterEach(async () => {
  await one.close()
  await two.close()
})

const logIn = (sandbox: Sandbox, user: string): ConnectionFields => ({
  server: sandbox.url,
  caData: sandbox.caPem,
  token: sandbox.issueToken({ user }).token,
})

it('counts requests that wait for a login, which do not delay requests that have one', async () => {
  const vault = new Vault({ queueLimit: 20 })
  let logins = 0
  vault.onLogin(
    () => {
      logins += 1
      return logins === 1 ? logIn(one, 'one') : new Promise(() => {})
    },
    { id: 'one' },
  )
  vault.onLogin(() => logIn(two, 'two'), { id: 'two' })
  // Far fewer places than requests that wait.
  await using cluster = await connect({ vault, policy: { requestLimit: 4 } })
  await expect.poll(() => vault.status()?.logins.every(({ state }) => state === 'ready')).toBe(true)
  one.revoke('one')
  const stop = new AbortController()
  const ask = () => cluster.fetch(`${one.url}/version`, { signal: stop.signal })
  const first = ask().catch((error: unknown) => error)
  await expect.poll(() => vault.status()?.waiting).toBe(1)
  const others = Array.from({ length: 19 }, () => ask().catch((error: unknown) => error))
  await expect.poll(() => vault.status()?.waiting).toBe(20)
  await expect(ask()).rejects.toMatchObject({ code: 'ERR_LOGIN_QUEUE_FULL' })
  expect((await cluster.fetch(`${two.url}/version`)).status).toBe(200)
  const reason = new Error('enough')
  stop.abort(reason)
  expect(new Set(await Promise.all([first, ...others]))).toEqual(new Set([reason]))
  expect(vault.status()?.waiting).toBe(0)
})
