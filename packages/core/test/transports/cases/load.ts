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
  // undici reuses a connection one turn of the event loop later, and opens a second one meanwhile.
  expect(scene.sandbox.connections.opened).toBeLessThanOrEqual(2)
}

export async function expiry(driver: Driver): Promise<void> {
  const lifetimeMs = await chooseLife(driver)
  await using scene = await Scene.withPlugin(driver, { lifetimeMs })
  const { sandbox } = scene
  const beganAt = Date.now()
  const statuses: number[] = []
  // Each is replaced when half of it is left, so the first two have expired by then.
  while (sandbox.pluginRuns < 4 || Date.now() < beganAt + 1.6 * lifetimeMs) {
    statuses.push((await scene.ask()).status)
    // Gives concurrent cases some time in the event loop.
    await pause(10)
  }
  expect(distinct(statuses)).toEqual([200])
  // Tokens are renewed before they expire: a single request may be refused, but not one per expiry.
  const refused = seen(sandbox).filter(({ status }) => status === 401)
  expect(refused.length).toBeLessThanOrEqual(1)
}

/** Short, but half of it is enough for three plugin runs, however busy the machine is. */
async function chooseLife(driver: Driver): Promise<number> {
  const beganAt = performance.now()
  // With a vault, the plugin runs while the scene opens.
  await using scene = await Scene.withPlugin(driver)
  await scene.ask()
  return Math.min(Math.max(2500, 6 * (performance.now() - beganAt)), 15_000)
}
