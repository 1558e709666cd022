import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const fileOf = (path: string): string =>
  fileURLToPath(new URL(`../../../../examples/${path}`, import.meta.url))

let sandbox: Sandbox

beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

function run(path: string, kubeconfig: string): ChildProcess {
  return spawn(process.execPath, [fileOf(path)], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
  })
}

const outputOf = ({ stdout }: ChildProcess) => text(stdout as NodeJS.ReadableStream)

describe('the examples work as they stand:', () => {
  it('01-list-namespaces', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    const child = run('01-list-namespaces/main.mjs', sandbox.writeKubeconfig({ user: { exec } }))
    expect((await outputOf(child)).split('\n')).toContain('kube-system')
  })

  it('02-exec-plugin', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const stanza = readFileSync(fileOf('02-exec-plugin/user.yaml'), 'utf8')
    expect(stanza).toContain('command: ./plugin.mjs')
    const exec = { command: fileOf('02-exec-plugin/plugin.mjs'), env: { EXAMPLE_TOKEN: token } }
    await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
  })

  it('05-client-node, which ends by itself', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    const child = run('05-client-node/main.mjs', sandbox.writeKubeconfig({ user: { exec } }))
    const ended = once(child, 'exit')
    expect((await outputOf(child)).split('\n')).toContain('kube-system')
    expect(await ended).toEqual([0, null])
    expect(sandbox.requests).toMatchObject([{ user: 'jane', status: 200 }])
  })

  it.each([
    ['03-watch/main.mjs', 'ADDED seen\n'],
    ['05-client-node/informer.mjs', 'add seen\n'],
  ])('%s', async (program, shown) => {
    const exec = await sandbox.plugin({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    const child = run(program, kubeconfig)
    await using cluster = await connect({ kubeconfig })
    await expect
      .poll(() => sandbox.requests.some(({ path }) => path.includes('watch=true')), {
        timeout: 10_000,
      })
      .toBe(true)
    await cluster.fetch('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'seen' } }),
    })
    const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
    expect(line.toString()).toBe(shown)
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})
