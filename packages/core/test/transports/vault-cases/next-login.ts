import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectionFields } from 'kubecred/vault'
import { expect } from 'vitest'
import { asAdmin, seen } from '../admin.ts'
import { type Driver, NAMESPACES, returnsRefusals } from '../driver.ts'
import { distinct } from '../scene.ts'
import { infoFor, VaultStage } from '../vault-stage.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

/** A refused credential is excluded: the request continues with the next login, and so do later ones. */
export async function nextLogin(driver: Driver): Promise<void> {
  let first: ConnectionFields | undefined
  await using stage = await VaultStage.open(driver, {
    logins: ([sandbox]) => ({
      // Always returns the same, refused credential.
      first: async () => {
        const token = sandbox.issueToken({ user: 'first' }).token
        first ??= { server: sandbox.url, caData: sandbox.caPem, token, priority: 10 }
        return first
      },
      second: () => infoFor(driver, sandbox, 'second'),
    }),
  })
  const { sandbox } = stage
  const users = (): unknown[] => seen(sandbox).map(({ tokenUser }) => tokenUser)
  expect(await stage.outcome()).toEqual([200])
  expect(users()).toEqual(['first'])

  sandbox.revoke('first')
  await expectRefusedOnce(driver, stage)
  expect(users().slice(0, 3)).toEqual(['first', 'first', 'second'])
  const answers = await Promise.all(Array.from({ length: 20 }, () => stage.outcome()))
  expect(distinct(answers.flat())).toEqual([200])
  expect(distinct(users().slice(2))).toEqual(['second'])
  expect(seen(sandbox).filter(({ status }) => status === 401)).toHaveLength(1)
}

/** Each handler is called again before its credential expires, and no request fails. */
export async function loginAhead(driver: Driver): Promise<void> {
  const lifetimeMs = await chooseLife(driver)
  const reasons: string[] = []
  await using stage = await VaultStage.open(driver, {
    logins: ([sandbox]) => ({
      short: ({ reason }) => {
        reasons.push(reason)
        // The server accepts it longer: on a busy machine a request may arrive after the expiry that we report.
        const { token } = sandbox.issueToken({ user: `user-${reasons.length}`, lifetimeMs: 60_000 })
        const expiration = new Date(Date.now() + lifetimeMs)
        return { server: sandbox.url, caData: sandbox.caPem, token, expiration }
      },
    }),
  })
  const statuses: unknown[] = []
  while (reasons.length < 4) {
    statuses.push(await stage.outcome())
    // Gives concurrent cases some time in the event loop.
    await pause(10)
  }
  expect(distinct(statuses.flat())).toEqual([200])
  expect(reasons).toContain('ahead')
  expect(seen(stage.sandbox).filter(({ status }) => status === 401)).toEqual([])
}

/** Short, but half of it is enough for a request, however busy the machine is. */
async function chooseLife(driver: Driver): Promise<number> {
  const beganAt = performance.now()
  await using stage = await VaultStage.open(driver, {
    logins: ([sandbox]) => ({ it: () => infoFor(driver, sandbox, 'it') }),
  })
  await stage.ask()
  return Math.min(Math.max(1000, 4 * (performance.now() - beganAt)), 10_000)
}

/** A body arrives completely with the next login. */
export async function nextLoginWithBody(driver: Driver): Promise<void> {
  await using stage = await VaultStage.open(driver, {
    logins: ([sandbox]) => ({
      bad: () => ({ server: sandbox.url, caData: sandbox.caPem, token: 'bad', priority: 10 }),
      worse: () => ({ server: sandbox.url, caData: sandbox.caPem, token: 'worse', priority: 5 }),
      good: () => infoFor(driver, sandbox, 'good'),
    }),
  })
  const { sandbox } = stage
  const body = JSON.stringify({ metadata: { name: 'made' }, data: { text: 'Grüße' } })
  const headers = { 'content-type': 'application/json' }
  const post = { path: CONFIG_MAPS, method: 'POST', headers, body }
  expect((await stage.ask(post)).status).toBe(201)
  const posts = seen(sandbox).filter(({ method }) => method === 'POST')
  expect(posts.map(({ status }) => status)).toEqual([401, 401, 201])
  const { text } = await asAdmin(sandbox, 'GET', `${CONFIG_MAPS}/made`)
  expect(JSON.parse(text)).toMatchObject({ data: { text: 'Grüße' } })
}

/** With two users of the same priority, a request is sent as one of them, never as a mix. */
export async function wholeLogins(driver: Driver): Promise<void> {
  await using stage = await VaultStage.open(driver, {
    logins: ([sandbox]) => ({
      ann: () => infoFor(driver, sandbox, 'ann'),
      bob: () => infoFor(driver, sandbox, 'bob'),
    }),
  })
  const answers = await Promise.all(Array.from({ length: 24 }, () => stage.outcome()))
  expect(distinct(answers.flat())).toEqual([200])
  const records = seen(stage.sandbox).filter(({ path }) => path === NAMESPACES)
  const halves = records.filter(({ tokenUser, certificateUser }) =>
    certificateUser === undefined ? false : tokenUser !== certificateUser,
  )
  expect(halves).toEqual([])
  expect(new Set(records.map(({ tokenUser }) => tokenUser))).toEqual(new Set(['ann', 'bob']))
}

/** Retries the request itself or, with a transport that returns the 401, the next one. */
async function expectRefusedOnce(driver: Driver, stage: VaultStage): Promise<void> {
  if (returnsRefusals(driver)) expect(await stage.outcome()).toEqual([401])
  expect(await stage.outcome()).toEqual([200])
}
