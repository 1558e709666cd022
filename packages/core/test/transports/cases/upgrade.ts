import type { Sandbox } from '@kubecred/sandbox'
import { expect } from 'vitest'
import { seen } from '../admin.ts'
import type { Driver } from '../driver.ts'
import { Scene } from '../scene.ts'

export async function upgrade(driver: Driver): Promise<void> {
  await using scene = await Scene.withPlugin(driver)
  const { sandbox } = scene
  const connection = await scene.upgrade()
  expect(await connection.echo('hello')).toBe('hello')
  expect(sandbox.pluginRuns).toBe(1)
  expect(upgrades(sandbox)).toMatchObject([{ user: 'jane', status: 101 }])
  // An open connection no longer depends on the token.
  scene.revoke('jane')
  expect(await connection.echo('still there')).toBe('still there')
  await connection.close()
}

export async function upgradeRefusedOnce(driver: Driver): Promise<void> {
  await using scene = await Scene.withPlugin(driver)
  const { sandbox } = scene
  await (await scene.upgrade()).close()
  scene.revoke('jane')
  const connection = await scene.upgrade()
  expect(await connection.echo('hello')).toBe('hello')
  expect(sandbox.pluginRuns).toBe(2)
  expect(upgrades(sandbox).map(({ status }) => status)).toEqual([101, 401, 101])
  await connection.close()
}

function upgrades(sandbox: Sandbox): Sandbox['requests'] {
  return seen(sandbox).filter(({ path }) => path.includes('/exec'))
}
