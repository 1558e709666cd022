import { spawn } from 'node:child_process'
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, type CredentialEvent, connect } from 'kubecred'
import { loginWithKubeconfig } from 'kubecred/logins'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { linesOf, makeMetrics } from '../metrics/scene.ts'

const NAME = 'kubecred:event'
const PATH = '/api/v1/namespaces'

let sandbox: Sandbox
let published: CredentialEvent[]
const note = (message: unknown): void => {
  published.push(message as CredentialEvent)
}

beforeEach(async () => {
  sandbox = await startSandbox()
  published = []
})
afterEach(async () => {
  unsubscribe(NAME, note)
  await sandbox.close()
})

const env = () => ({ HOME: sandbox.folder, PATH: process.env['PATH'] })
const typesOf = (events: readonly CredentialEvent[]): string[] =>
  events.map(({ type, source }) => `${source.kind} ${type}`)

async function get(cluster: Cluster): Promise<number> {
  const response = await cluster.fetch(PATH)
  await response.arrayBuffer()
  return response.status
}

function vaultWith(kubeconfig: string): Vault {
  return new Vault().onLogin(
    (context) => loginWithKubeconfig(context, { kubeconfig, env: env() }),
    { id: 'file' },
  )
}

/** Events except those about observers being added and removed, which each observer gets by itself. */
function shared(events: readonly CredentialEvent[]): CredentialEvent[] {
  return events.filter(({ type }) => type !== 'attached' && type !== 'detached')
}

describe('the channel kubecred:event', () => {
  it('has every event that an observer receives, as the same object', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    const heard: CredentialEvent[] = []
    subscribe(NAME, note)
    const cluster = await connect({ kubeconfig, env: env(), observer: (each) => heard.push(each) })
    expect(await get(cluster)).toBe(200)
    sandbox.revoke('jane')
    expect(await get(cluster)).toBe(200)
    await cluster.close()
    expect(typesOf(published)).toEqual(typesOf(heard))
    expect(typesOf(published)).toEqual(
      expect.arrayContaining(['exec attached', 'exec refused', 'exec retried', 'exec detached']),
    )
    const isSame = shared(published).map((event, at) => event === shared(heard)[at])
    expect(new Set(isSame)).toEqual(new Set([true]))
  })

  it('needs no observer', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    subscribe(NAME, note)
    const cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { token } }) })
    expect(await get(cluster)).toBe(200)
    await cluster.close()
    expect(typesOf(published)).toEqual([
      'static attached',
      'static run-started',
      'static run-succeeded',
      'static detached',
    ])
  })

  it('has the events of a single connection: warnings and reloads of its CA file', async () => {
    const certificateAuthority = join(sandbox.folder, 'ca.pem')
    writeFileSync(certificateAuthority, sandbox.caPem)
    const { token } = sandbox.issueToken({ user: 'jane' })
    subscribe(NAME, note)
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    const server = sandbox.url.replace('https://', '')
    await using cluster = await connect({ kubeconfig, server, certificateAuthority })
    expect(await get(cluster)).toBe(200)
    expect(published.filter(({ type }) => type === 'warning')).toMatchObject([
      { message: expect.stringContaining('has no scheme') },
    ])
    writeFileSync(certificateAuthority, `# new\n${sandbox.caPem}`)
    const reloads = () => published.filter(({ type }) => type === 'ca-reload')
    await expect.poll(reloads, { timeout: 15_000 }).not.toEqual([])
    expect(reloads()).toMatchObject([{ result: 'success', reason: 'updated' }])
  }, 30_000)

  it('has each event once if connections, a vault or a copy of the package share the plugin', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    const vault = vaultWith(kubeconfig)
    // Node itself loads what the matrix has installed: there it is the same copy.
    vi.resetModules()
    const copy = await import('kubecred')
    const metrics = await makeMetrics()
    subscribe(NAME, note)
    const options = { kubeconfig, env: env() }
    const clusters = [
      await connect({ ...options, observer: () => {} }),
      await connect(options),
      await copy.connect(options),
      await connect({ vault, env: env() }),
    ]
    for (const cluster of clusters) expect(await get(cluster)).toBe(200)
    await Promise.all(clusters.map((cluster) => cluster.close()))
    expect(sandbox.pluginRuns).toBe(1)
    expect(typesOf(published).filter((each) => each === 'exec run-succeeded')).toHaveLength(1)
    expect(new Set(published).size).toBe(published.length)
    for (const event of published) metrics.observer(event)
    const scrape = await metrics.register.metrics()
    expect(linesOf(scrape, 'rest_client_exec_plugin_call_total')).toEqual([
      'rest_client_exec_plugin_call_total{code="0",call_status="no_error"} 1',
    ])
    expect(linesOf(scrape, 'kubecred_vault_frozen ')).toEqual(['kubecred_vault_frozen 0'])
  })

  it('has the events of a vault as its observer receives them, each once', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    const vault = vaultWith(sandbox.writeKubeconfig({ user: { exec } }))
    const heard: CredentialEvent[] = []
    subscribe(NAME, note)
    const cluster = await connect({ vault, env: env(), observer: (each) => heard.push(each) })
    expect(await get(cluster)).toBe(200)
    sandbox.revoke('jane')
    expect(await get(cluster)).toBe(200)
    await cluster.close()
    expect(typesOf(published)).toEqual(typesOf(heard))
    expect(published.filter(({ type }) => type === 'refused')).toHaveLength(1)
  })

  it('is not used while it has no subscriber', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const publish = vi.spyOn(channel(NAME), 'publish')
    await using cluster = await connect({
      kubeconfig: sandbox.writeKubeconfig({ user: { token } }),
    })
    expect(await get(cluster)).toBe(200)
    expect(publish).not.toHaveBeenCalled()
    publish.mockRestore()
  })
})

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** Runs the example that lists namespaces with a module that is loaded before it. */
async function runWith(source: string): Promise<{ out: string; code: number | null }> {
  const path = join(sandbox.folder, 'events.mjs')
  writeFileSync(path, source)
  const exec = await sandbox.plugin({ user: 'jane' })
  const child = spawn(
    process.execPath,
    ['--import', pathToFileURL(path).href, join(root, 'examples/list-namespaces.mjs')],
    { env: { ...process.env, KUBECONFIG: sandbox.writeKubeconfig({ user: { exec } }) } },
  )
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [out, code] = await Promise.all([text(child.stdout), ended])
  return { out, code }
}

describe('a subscriber', () => {
  it('as in docs/metrics.md prints the events of an unmodified program', async () => {
    const page = readFileSync(join(root, 'docs/metrics.md'), 'utf8')
    const example = /```js\n(\/\/ events\.mjs\n.*?)```/s.exec(page)?.[1] ?? ''
    const { out, code } = await runWith(example)
    expect(code, out).toBe(0)
    expect(out).toContain('kube-system\n')
    const types = ['attached', 'run-started', 'plugin-started', 'run-succeeded', 'detached']
    const printed = [...out.matchAll(/^([a-z-]+): exec \S/gm)].map(([, type]) => type)
    expect(printed).toEqual(expect.arrayContaining(types))
  })

  it('that throws affects neither the program nor other subscribers; Node reports its error', async () => {
    const { out, code } = await runWith(`
      import { subscribe } from 'node:diagnostics_channel'
      let thrown = 0
      let heard = 0
      process.on('uncaughtException', ({ message }) => { if (message === 'theirs') thrown += 1 })
      subscribe('kubecred:event', () => { throw new Error('theirs') })
      subscribe('kubecred:event', () => { heard += 1 })
      process.on('exit', () => console.log('all reported:', heard > 3 && thrown === heard))
    `)
    expect(code, out).toBe(0)
    expect(out).toContain('kube-system\n')
    expect(out).toContain('all reported: true\n')
  })
})
