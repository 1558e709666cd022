import { expect } from 'vitest'
import { seen } from '../admin.ts'
import type { Driver } from '../driver.ts'
import { Scene } from '../scene.ts'

export async function refusedOnce(driver: Driver): Promise<void> {
  // Two scenes, because a credential that was refused when it was new is not replaced again at once.
  for (const count of [1, 50]) {
    await using scene = await Scene.withPlugin(driver)
    const { sandbox } = scene
    await scene.ask()
    scene.revoke('jane')
    expect(await scene.askAtOnce(count)).toEqual([200])
    expect(sandbox.pluginRuns).toBe(2)
    expect(seen(sandbox).filter(({ status }) => status === 401)).not.toEqual([])
  }
}

export async function refusedForever(driver: Driver): Promise<void> {
  await using scene = await Scene.withPlugin(driver)
  const { sandbox } = scene
  const beganAt = Date.now()
  sandbox.respondWith(() => ({ status: 401, body: 'no' }))
  expect(await scene.ask()).toEqual({ status: 401, text: 'no' })
  expect(await scene.askAtOnce(40)).toEqual([401])
  expect(await scene.askInTurn(10)).toEqual([401])
  const runs = sandbox.pluginRuns
  expect(runs).toBeGreaterThan(1)
  expect(runs).toBeLessThanOrEqual(mostRuns(Date.now() - beganAt))
  // When the server accepts credentials again, requests succeed.
  sandbox.respondWith(undefined)
  expect((await scene.ask()).status).toBe(200)
}

/** The first run, one for the first refusal, and one after each back-off; the first is 1 s minus 20 % jitter. */
export function mostRuns(passedMs: number): number {
  return 2 + Math.floor(Math.log2(passedMs / 800 + 1))
}

export async function revokedMidStream(driver: Driver): Promise<void> {
  await using scene = await Scene.withPlugin(driver)
  const { sandbox } = scene
  const watch = await scene.watch()
  await watch.expectEvent()
  scene.revoke('jane')
  await watch.expectEvent()
  expect((await scene.ask()).status).toBe(200)
  expect(sandbox.pluginRuns).toBe(2)
  await watch.expectEvent()
  await watch.end()
}
