import { createPublicKey } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sandbox } from '@kubecred/sandbox'
import { expect } from 'vitest'
import { seen } from '../admin.ts'
import type { Driver } from '../driver.ts'
import { distinct, Scene } from '../scene.ts'
import { until } from '../until.ts'

/** Shorter than the idle timeout of the server. */
const CLOSED_MS = 4000

export async function certificateRotated(driver: Driver): Promise<void> {
  await using scene = await Scene.open(driver, {
    kubeconfig: async (sandbox) => ({ user: await writeCertificate(sandbox, 'one') }),
  })
  const { sandbox } = scene
  const watch = await scene.watch()
  const upgraded = scene.canUpgrade ? await scene.upgrade() : undefined
  expect((await scene.ask()).status).toBe(200)
  expect(watch.record.certificateUser).toBe('one')
  await writeCertificate(sandbox, 'two', driver)
  await until(async () => (await userAfterRequest(scene)) === 'two')

  const before = seen(sandbox).length
  expect(await scene.askAtOnce(30)).toEqual([200])
  expect(await scene.askInTurn(10)).toEqual([200])
  const after = seen(sandbox).slice(before)
  expect(after).toHaveLength(40)
  expect(distinct(after.map(({ user }) => user))).toEqual(['two'])
  expect(distinct(seen(sandbox).map(({ tlsSessionReused }) => tlsSessionReused))).toEqual([false])

  if (upgraded !== undefined) {
    expect(await upgraded.echo('still there')).toBe('still there')
    const next = await scene.upgrade()
    expect(seen(sandbox).at(-1)).toMatchObject({ user: 'two', tlsSessionReused: false })
    await Promise.all([upgraded.close(), next.close()])
  }
  await watch.expectEvent()
  await watch.end()
  await expectOnlyNew(scene, (record) => record.certificateUser === 'two')
}

export async function authorityRotated(driver: Driver): Promise<void> {
  await using scene = await Scene.withPlugin(driver, {}, { authorityFile: 'ca.pem' })
  const { sandbox } = scene
  const watch = await scene.watch()
  expect((await scene.ask()).status).toBe(200)
  const opened = sandbox.connections.opened
  writeFileSync(join(sandbox.folder, 'ca.pem'), await sandbox.rotateServerAuthority())
  // Until the file is read again, requests use the old connection; those that need a new one may fail.
  await until(async () => (await connectionAfterRequest(scene)) > opened)
  const before = seen(sandbox).length
  expect(await scene.askAtOnce(30)).toEqual([200])
  const connections = seen(sandbox)
    .slice(before)
    .map(({ connection }) => connection)
  expect(Math.min(...connections)).toBeGreaterThan(opened)
  await watch.expectEvent()
  await watch.end()
  await expectOnlyNew(scene, ({ connection }) => connection > opened)
}

/**
 * Writes certificate and key of a user to the files that the kubeconfig names.
 *
 * @param driver With signing keys, a new certificate is issued for the same key.
 */
export async function writeCertificate(
  { folder, issueCertificate }: Sandbox,
  user: string,
  driver?: Driver,
): Promise<{ certificateFile: string; keyFile: string }> {
  const files = { certificateFile: join(folder, 'client.pem'), keyFile: join(folder, 'client.key') }
  const publicKey = driver?.onlySigns && publicKeyOf(readFileSync(files.keyFile, 'utf8'))
  const { certificate, key } = await issueCertificate({ user, ...(publicKey && { publicKey }) })
  writeFileSync(files.certificateFile, certificate)
  if (publicKey === undefined) writeFileSync(files.keyFile, key)
  return files
}

function publicKeyOf(key: string): string {
  return createPublicKey(key).export({ type: 'spki', format: 'pem' }) as string
}

async function userAfterRequest(scene: Scene): Promise<string | undefined> {
  await scene.ask()
  return seen(scene.sandbox).at(-1)?.user
}

async function connectionAfterRequest(scene: Scene): Promise<number> {
  const { status } = await scene.ask().catch(() => ({ status: 0 }))
  return status === 200 ? (seen(scene.sandbox).at(-1)?.connection ?? 0) : 0
}

/** Waits until only connections of such requests are open. */
async function expectOnlyNew(
  { sandbox }: Scene,
  isNew: (record: Sandbox['requests'][number]) => boolean,
): Promise<void> {
  const used = distinct(
    seen(sandbox)
      .filter(isNew)
      .map(({ connection }) => connection),
  )
  await until(() => sandbox.connections.open <= used.length, CLOSED_MS)
}
