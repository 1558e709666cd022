import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { type LoginHandler, PermanentError, TemporaryError, Vault } from 'kubecred/vault'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const NAMESPACES = '/api/v1/namespaces'
/** Far longer than anything here takes, so that only its end by itself can let a test go on in time. */
const LONG_GRACE = { priorityGraceMs: 600_000 }

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

const login = (user: string, priority = 0) => ({
  server: sandbox.url,
  caData: sandbox.caPem,
  token: sandbox.issueToken({ user }).token,
  priority,
})

const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const never: LoginHandler = () => new Promise<never>(() => {})

/** Sends the first request of a vault; whom the server saw. */
async function firstUser(vault: Vault): Promise<string | undefined> {
  await using cluster = await connect({ vault })
  await (await cluster.fetch(NAMESPACES)).text()
  return sandbox.requests.at(-1)?.user
}

describe('the first request', () => {
  it('gets the login with the highest priority, 200 times out of 200', async () => {
    const users: (string | undefined)[] = []
    for (let round = 0; round < 200; round += 1) {
      // Far longer than a turn of a busy machine. That there is a grace by default, the next test says.
      const vault = new Vault(LONG_GRACE)
        .onLogin(() => login('low'), { id: 'low' })
        .onLogin(
          async () => {
            for (let turn = 0; turn < round % 5; turn += 1) await immediate()
            return login('high', 10)
          },
          { id: 'high' },
        )
      users.push(await firstUser(vault))
    }
    expect(users).toEqual(Array(200).fill('high'))
  })

  it('gets it by default too, if it arrives before any timer fires', async () => {
    const vault = new Vault()
      .onLogin(() => login('low'), { id: 'low' })
      .onLogin(() => immediate().then(() => login('high', 10)), { id: 'high' })
    expect(await firstUser(vault)).toBe('high')
  })

  it('waits for a higher priority no longer than the grace period', async () => {
    const vault = new Vault({ priorityGraceMs: 50 })
      .onLogin(() => login('low'), { id: 'low' })
      .onLogin(never, { id: 'never' })
    expect(await firstUser(vault)).toBe('low')
  })

  it('does not wait without a grace period', async () => {
    let isAsked = false
    const vault = new Vault({ priorityGraceMs: 0 })
      .onLogin(() => login('low'), { id: 'low' })
      .onLogin(
        async () => {
          await expect.poll(() => isAsked).toBe(true)
          return login('high', 10)
        },
        { id: 'high' },
      )
    await using cluster = await connect({ vault })
    isAsked = true
    expect(cluster.status().credential.state).toBe('ready')
  })

  it.each<[string, LoginHandler]>([
    ['returned nothing', () => immediate().then(() => undefined)],
    [
      'failed',
      async () => {
        await immediate()
        throw new PermanentError('no')
      },
    ],
    [
      'is no longer in its first attempt',
      async () => {
        await immediate()
        throw new TemporaryError('busy', { delayMs: 600_000 })
      },
    ],
  ])('continues when the other handler %s', async (_, other) => {
    const vault = new Vault(LONG_GRACE)
      .onLogin(() => login('low'), { id: 'low' })
      .onLogin(other, { id: 'other' })
    expect(await firstUser(vault)).toBe('low')
  })

  it('gets the same login as others at the same time', async () => {
    let answer: (() => void) | undefined
    const vault = new Vault(LONG_GRACE)
      .onLogin(() => login('low'), { id: 'low' })
      .onLogin(
        () =>
          new Promise((resolve) => {
            answer = () => resolve(login('high', 10))
          }),
        { id: 'high' },
      )
    const connecting = Array.from({ length: 5 }, () => connect({ vault }))
    await expect.poll(() => vault.status()?.logins[0]?.state).toBe('ready')
    const late = connect({ vault })
    answer?.()
    for (const cluster of await Promise.all([...connecting, late])) {
      expect((await cluster.fetch(NAMESPACES)).status).toBe(200)
      expect(sandbox.requests.at(-1)?.user).toBe('high')
      await cluster.close()
    }
  })
})

it('a later request does not wait for a handler whose priority is known to be lower', async () => {
  let logins = 0
  const vault = new Vault(LONG_GRACE)
    .onLogin(() => ({ ...login('high', 10), expiration: new Date(Date.now() + 500) }), {
      id: 'high',
    })
    .onLogin(
      ({ reason }) => {
        logins += 1
        if (reason !== 'first') return new Promise<never>(() => {})
        return { ...login('low'), expiration: new Date(Date.now() + 500) }
      },
      { id: 'low' },
    )
  await using cluster = await connect({ vault })
  await expect
    .poll(() => vault.status()?.logins.every(({ state }) => state !== 'ready'), { timeout: 10_000 })
    .toBe(true)
  expect((await cluster.fetch(NAMESPACES)).status).toBe(200)
  expect(logins).toBeGreaterThan(1)
  expect(sandbox.requests.at(-1)?.user).toBe('high')
})
