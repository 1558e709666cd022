import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { seen } from '../admin.ts'
import type { Driver } from '../driver.ts'
import { distinct, Scene } from '../scene.ts'

export async function coldHerd(driver: Driver): Promise<void> {
  await using scene = await Scene.withPlugin(driver)
  expect(await scene.askAtOnce(100)).toEqual([200])
  expect(scene.sandbox.pluginRuns).toBe(1)
  const users = seen(scene.sandbox).map(({ user }) => user)
  expect(distinct(users)).toEqual(['jane'])
  expect(users).toHaveLength(100)
}

export async function warm(driver: Driver): Promise<void> {
  await using scene = await Scene.withPlugin(driver)
  await scene.ask()
  expect(await scene.askInTurn(50)).toEqual([200])
  expect(scene.sandbox.pluginRuns).toBe(1)
  // undici waits one turn of the loop before it uses a connection again, and opens a second one meanwhile.
  expect(scene.sandbox.connections.opened).toBeLessThanOrEqual(2)
}

export async function expiry(driver: Driver): Promise<void> {
  // Half of it is what a run may take on a busy machine, for it begins when half is left.
  const lifeMs = 4000
  await using scene = await Scene.withPlugin(driver, { lifeMs })
  const { sandbox } = scene
  const beganAt = Date.now()
  const statuses: number[] = []
  // The first has expired by then, and so has the second.
  while (sandbox.pluginRuns < 4 || Date.now() < beganAt + 1.6 * lifeMs) {
    statuses.push((await scene.ask()).status)
    // Not to wait for anything: so that eighteen transports at a time leave the machine some air.
    await pause(10)
  }
  expect(distinct(statuses)).toEqual([200])
  // Not by way of refusals: one may meet its token's last moment, but not every expiry.
  const refused = seen(sandbox).filter(({ status }) => status === 401)
  expect(refused.length).toBeLessThanOrEqual(1)
}
