import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sandbox } from '@kubecred/sandbox'
import { expect } from 'vitest'
import { type Driver, NAMESPACES } from '../driver.ts'
import { Scene } from '../scene.ts'
import { until } from '../until.ts'
import { abortWhileFrozen } from '../vault-cases/frozen.ts'

export async function abort(driver: Driver): Promise<void> {
  // A vault has had its first login when there is a cluster: who waits there waits for a later one.
  await (driver.isOnVault ? abortWhileFrozen(driver) : abortWhilePluginRuns(driver))
  await abortMidStream(driver)
}

/** The caller is told at once; the run goes on, and its answer serves the next request. */
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
  // The plugin would wait for ever: what ends here does not wait for it.
  await expect(sent).rejects.toThrow()
  writeFileSync(file('gate'), '')
  expect((await scene.ask()).status).toBe(200)
  expect(readFileSync(file('runs'), 'utf8')).toBe('run\n')
}

/** The server sees that nobody reads any more, and the caller that there is no more. */
async function abortMidStream(driver: Driver): Promise<void> {
  await using scene = await Scene.withPlugin(driver)
  const watch = await scene.watch()
  await watch.expectEvent()
  await watch.end()
  await watch.expectCut()
  expect((await scene.ask()).status).toBe(200)
}

/** A plugin that answers when the file `gate` is there. */
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
