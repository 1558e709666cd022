import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sandbox } from '@kubecred/sandbox'
import { expect } from 'vitest'
import { type Driver, NAMESPACES } from '../driver.ts'
import { Scene } from '../scene.ts'
import { until } from '../until.ts'
import { abortWhileFrozen } from '../vault-cases/frozen.ts'

export async function abort(driver: Driver): Promise<void> {
  // With a vault, the first login is done when there is a cluster, so a request waits for a later one.
  await (driver.isOnVault ? abortWhileFrozen(driver) : abortWhilePluginRuns(driver))
  await abortMidStream(driver)
}

/** The caller is rejected at once. The plugin run continues, and its result serves the next request. */
async function abortWhilePluginRuns(driver: Driver): Promise<void> {
  await using scene = await Scene.open(driver, {
    kubeconfig: (sandbox) => ({ user: { exec: { command: writeHeldPlugin(sandbox) } } }),
  })
  const file = (name: string): string => join(scene.sandbox.folder, name)
  const controller = new AbortController()
  const sent = scene.ask({ path: NAMESPACES, signal: controller.signal })
  const isStarted = until(() => existsSync(file('runs')))
  await expect(Promise.race([isStarted, sent])).resolves.toBeUndefined()
  controller.abort()
  // The plugin would run forever: the abort does not wait for it.
  await expect(sent).rejects.toThrow()
  writeFileSync(file('gate'), '')
  expect((await scene.ask()).status).toBe(200)
  expect(readFileSync(file('runs'), 'utf8')).toBe('run\n')
}

/** The server sees the end of the watch, and so does the caller. */
async function abortMidStream(driver: Driver): Promise<void> {
  await using scene = await Scene.withPlugin(driver)
  const watch = await scene.watch()
  await watch.expectEvent()
  await watch.end()
  await watch.expectCut()
  expect((await scene.ask()).status).toBe(200)
}

/** A plugin that responds when the file `gate` exists. */
function writeHeldPlugin(sandbox: Sandbox): string {
  const { folder } = sandbox
  const { token } = sandbox.issueToken({ user: 'jane' })
  const answer = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token },
  }
  writeFileSync(join(folder, 'answer'), JSON.stringify(answer))
  const script = `#!/bin/sh
echo run >> '${folder}/runs'
while [ ! -e '${folder}/gate' ]; do sleep 0.05; done
cat '${folder}/answer'
`
  const path = join(folder, 'held-plugin')
  writeFileSync(path, script, { mode: 0o700 })
  return path
}
