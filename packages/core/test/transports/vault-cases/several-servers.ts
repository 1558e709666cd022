import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { expect } from 'vitest'
import { asAdmin, seen } from '../admin.ts'
import { type Driver, NAMESPACES, returnsRefusals, type Sent, takesBodies } from '../driver.ts'
import { distinct } from '../scene.ts'
import { infoFor, VaultStage } from '../vault-stage.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const ROUNDS = 16

function openTwo(driver: Driver): Promise<VaultStage> {
  return VaultStage.open(driver, {
    servers: 2,
    logins: ([one, two = one]) => ({
      one: () => infoFor(driver, one, 'one'),
      two: () => infoFor(driver, two, 'two'),
    }),
  })
}

/** Every request goes to its own server with the login for it, whatever other requests do. */
export async function severalServers(driver: Driver): Promise<void> {
  await using stage = await openTwo(driver)
  const { servers } = stage
  const canPost = takesBodies(driver)
  const requests = servers.flatMap(({ url }, index) =>
    Array.from({ length: ROUNDS }, (_, round): Sent & { expected: number } =>
      round % 2 === 0 || !canPost
        ? { server: url, path: `${NAMESPACES}?for=${index}`, expected: 200 }
        : { ...making(`for-${index}-${round}`), server: url, expected: 201 },
    ),
  )
  const paths = driver.takesPaths
    ? Array.from({ length: ROUNDS }, () => ({ path: NAMESPACES }))
    : []
  const mixed = shuffled([...requests, ...paths])
  const answers = await Promise.all(mixed.map((request) => stage.outcome(request)))
  expect(answers).toEqual(mixed.map((request) => ['expected' in request ? request.expected : 200]))
  for (const [index, sandbox] of servers.entries()) {
    expectOnly(sandbox, index === 0 ? 'one' : 'two')
    expect(distinct(seen(sandbox).flatMap(({ path }) => /for=(\d)/.exec(path)?.[1] ?? []))).toEqual(
      [String(index)],
    )
    const { text } = await asAdmin(sandbox, 'GET', CONFIG_MAPS)
    const { items } = JSON.parse(text) as { items: { metadata: { name: string } }[] }
    const foreign = items.filter(({ metadata }) => !metadata.name.startsWith(`for-${index}`))
    expect(foreign).toEqual([])
  }
}

function making(name: string): Sent {
  const headers = { 'content-type': 'application/json' }
  return {
    path: CONFIG_MAPS,
    method: 'POST',
    headers,
    body: JSON.stringify({ metadata: { name } }),
  }
}

/** Alternates between the two, in a fixed order. */
function shuffled<T>(given: readonly T[]): T[] {
  const stride = 7
  return Array.from({ length: stride }, (_, at) =>
    given.filter((_, index) => index % stride === at),
  ).flat()
}

function expectOnly(sandbox: Sandbox, user: string): void {
  const wrong = seen(sandbox).filter(
    ({ tokenUser, certificateUser = user }) => tokenUser !== user || certificateUser !== user,
  )
  expect(wrong).toEqual([])
}

/** A server without a login gets nothing: no header, no certificate, not even a connection. */
export async function foreignServer(driver: Driver): Promise<void> {
  await using stage = await openTwo(driver)
  await using stranger = await startSandbox()
  const { token } = stranger.issueToken({ user: 'ann' })
  for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
    const codes = await stage.outcome({ server: stranger.url, headers })
    expect(codes).toContain('ERR_FOREIGN_ORIGIN')
  }
  expect(stranger.requests).toEqual([])
  expect(stranger.connections.opened).toBe(0)
}

/** A caller's own Authorization goes to the requested server, without a credential of ours. */
export async function ownAuthorizationToSeveral(driver: Driver): Promise<void> {
  await using stage = await openTwo(driver)
  for (const { url } of stage.servers) await stage.ask({ server: url })
  for (const sandbox of [...stage.servers, ...stage.servers]) {
    const { token } = sandbox.issueToken({ user: 'ann' })
    const headers = { authorization: `Bearer ${token}` }
    expect(await stage.outcome({ server: sandbox.url, headers })).toEqual([200])
    expect(seen(sandbox).at(-1)).toMatchObject({ user: 'ann', hasClientCertificate: false })
  }
}

/** When a handler moves to another server, the old server never gets the new credential. */
export async function movedServer(driver: Driver): Promise<void> {
  let isMoved = false
  await using stage = await VaultStage.open(driver, {
    servers: 2,
    freezeLimitMs: 1500,
    logins: ([one, two = one]) => ({
      // Only a token, so that connections could be reused for the next credential.
      it: () =>
        isMoved
          ? { server: two.url, caData: two.caPem, token: two.issueToken({ user: 'new' }).token }
          : { server: one.url, caData: one.caPem, token: one.issueToken({ user: 'old' }).token },
    }),
  })
  const [one, two = one] = stage.servers
  expect(await stage.outcome({ server: one.url })).toEqual([200])
  isMoved = true
  one.revoke('old')
  if (driver.takesPaths) {
    expect(await stage.outcome()).toEqual([200])
  } else {
    if (returnsRefusals(driver)) expect(await stage.outcome({ server: one.url })).toEqual([401])
    // There is no login for the old server any more.
    const codes = await stage.outcome({ server: one.url })
    expect(codes).toEqual(expect.arrayContaining([expect.stringMatching(NO_LOGIN)]))
  }
  expect(await stage.outcome({ server: two.url })).toEqual([200])
  expect(await stage.outcome({ server: one.url })).toContain('ERR_FOREIGN_ORIGIN')
  expect(distinct(seen(one).map(({ tokenUser }) => tokenUser))).toEqual(['old'])
  expect(distinct(seen(two).map(({ tokenUser }) => tokenUser))).toEqual(['new'])
}

const NO_LOGIN = /^ERR_(LOGIN_FAILED|FOREIGN_ORIGIN)$/
