import { expect } from 'vitest'
import type { Driver } from '../driver.ts'
import { Scene } from '../scene.ts'

export async function serverRestart(driver: Driver): Promise<void> {
  await using scene = await Scene.withPlugin(driver)
  const { sandbox } = scene
  const watch = await scene.watch()
  expect(await scene.askAtOnce(5)).toEqual([200])
  await sandbox.restart()
  // Kept-alive connections are dead, and the client may not have noticed yet.
  expect(await scene.askInTurn(5)).toEqual([200])
  await watch.expectCut()
  sandbox.dropConnections()
  expect(await scene.askAtOnce(20)).toEqual([200])
  expect(sandbox.pluginRuns).toBe(1)
  const next = await scene.watch()
  await next.expectEvent()
  await next.end()
}
