import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Driver, returnsRefusals } from '../../../packages/core/test/transports/driver.ts'
import type { TestCluster } from '../harness/test-cluster.ts'
import { certificateStatus } from './credentials.ts'
import { distinct, Scene } from './scene.ts'

const LIFE_MS = 6000
/** More than two lifetimes, and more than the ten seconds that the server caches a valid token. */
const RUN_MS = 16_000
const EVERY_MS = 200

/** Tokens expire repeatedly; no request fails. */
export async function tokenExpiry(driver: Driver, cluster: TestCluster): Promise<void> {
  const user = cluster.unique('short')
  const make = () => cluster.token({ user, lifetimeMs: LIFE_MS })
  const plugin = cluster.plugin().answer(make())
  using _ = plugin.answerAnew(make)
  await using scene = await Scene.open(driver, cluster, { exec: plugin.exec })
  const { count, statuses } = await askFor(RUN_MS, scene)
  expect(statuses).toEqual([200])
  expect((await scene.credentials(count)).length).toBeGreaterThan(1)
}

/** The server checks the dates of a certificate for each request, even on an open connection. */
export async function certificateExpiry(driver: Driver, cluster: TestCluster): Promise<void> {
  const user = cluster.unique('short')
  const make = () => certificateStatus(cluster, user, LIFE_MS)
  const plugin = cluster.plugin().answer(await make())
  using _ = plugin.answerAnew(make)
  await using scene = await Scene.open(driver, cluster, { exec: plugin.exec })
  const { count, statuses } = await askFor(RUN_MS, scene)
  expect(statuses).toEqual([200])
  expect((await scene.credentials(count)).length).toBeGreaterThan(1)
}

/** A refused token is replaced, and the request is sent again. */
export async function refused(driver: Driver, cluster: TestCluster): Promise<void> {
  const user = cluster.unique('jane')
  const plugin = cluster.plugin().answerOnce(1, { token: 'unknown.test.token' })
  plugin.answer(cluster.token({ user }))
  await using scene = await Scene.open(driver, cluster, { exec: plugin.exec })
  const first = await scene.ask()
  if (first !== 200) {
    expect(returnsRefusals(driver), 'only some hand a refusal back').toBe(true)
    expect(await scene.ask()).toBe(200)
  }
  expect(plugin.runs).toBe(2)
  const events = await scene.seen(2)
  expect(events.map(({ responseStatus }) => responseStatus?.code)).toEqual([401, 200])
}

async function askFor(ms: number, scene: Scene): Promise<{ count: number; statuses: number[] }> {
  const statuses: number[] = []
  for (const end = Date.now() + ms; Date.now() < end; await pause(EVERY_MS)) {
    statuses.push(await scene.ask())
  }
  return { count: statuses.length, statuses: distinct(statuses) }
}
