import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type KubeconfigExec, type Sandbox, startSandbox } from '@kubecred/sandbox'
import { KubeConfig } from '@kubernetes/client-node'
import { isCredentialError } from 'kubecred'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { processProtocol } from '../../src/node/process-registry.ts'
import { PackageCopies, type PackageCopy } from '../fixtures/package-copies.ts'
import { makePlugin } from '../fixtures/plugin-folder.ts'
import { findProcesses } from '../fixtures/processes.ts'
import {
  hasScript,
  NEEDS_SCRIPT,
  onTerminal,
  quoteWords,
  RunningProgram,
} from '../fixtures/running-program.ts'

const [OLDER, NEWER] = ['0.0.8', '0.0.9']
const program = fileURLToPath(new URL('../fixtures/uses-copies.mjs', import.meta.url))
let sandbox: Sandbox
let exec: KubeconfigExec
let copies: PackageCopies
let urls: { older: string; newer: string; twin: string }
let older: PackageCopy
let newer: PackageCopy
let twin: PackageCopy
beforeAll(async () => {
  sandbox = await startSandbox()
  exec = await sandbox.plugin({ user: 'jane', delayMs: 50 })
  copies = new PackageCopies()
  urls = {
    older: copies.make('older', OLDER),
    newer: copies.make('newer', NEWER),
    twin: copies.make('twin', NEWER),
  }
  older = await import(urls.older)
  newer = await import(urls.newer)
  twin = await import(urls.twin)
})
afterAll(async () => {
  await sandbox.close()
  copies[Symbol.dispose]()
})
beforeEach(() => sandbox.resetPluginRuns())

const env = () => ({ HOME: sandbox.folder })

/** Sends one request with each copy in parallel. Returns the plugin events in order. */
async function ask(...asking: readonly PackageCopy[]): Promise<string[]> {
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
  const seen: string[] = []
  const clusters = await Promise.all(
    asking.map(({ connect, VERSION }) =>
      connect({
        kubeconfig,
        env: env(),
        policy: { pluginLimit: 1 },
        observer: ({ type }) => type.startsWith('plugin-') && seen.push(`${VERSION} ${type}`),
      }),
    ),
  )
  const responses = await Promise.all(clusters.map((cluster) => cluster.fetch('/version')))
  expect(responses.map(({ status }) => status)).toEqual(asking.map(() => 200))
  await Promise.all(clusters.map((cluster) => cluster.close()))
  processProtocol().setSlotLimit(8)
  return seen
}

describe('copies of the same version', () => {
  it('are separate modules', () => {
    expect([older.VERSION, newer.VERSION, twin.VERSION]).toEqual([OLDER, NEWER, NEWER])
    expect(twin.connect).not.toBe(newer.connect)
  })

  it('share one plugin run', async () => {
    await ask(newer, twin)
    expect(sandbox.pluginRuns).toBe(1)
  })

  it('accept each other’s objects', async () => {
    await using cluster = await newer.connect({ server: sandbox.url, env: env() })
    twin.createAgent(cluster).destroy()
  })
})

describe('copies of different versions', () => {
  it('run one plugin each, sequentially if the limit is one', async () => {
    const seen = await ask(older, newer)
    expect(sandbox.pluginRuns).toBe(2)
    expect(seen.map((each) => each.split(' ')[1])).toEqual([
      'plugin-started',
      'plugin-ended',
      'plugin-started',
      'plugin-ended',
    ])
    expect(new Set(seen.map((each) => each.split(' ')[0]))).toEqual(new Set([OLDER, NEWER]))
  })

  it('share one limit, which each can set', async () => {
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    for (const [copy, pluginLimit] of [[older, 3] as const, [newer, 8] as const]) {
      await using _ = await copy.connect({ kubeconfig, env: env(), policy: { pluginLimit } })
      expect(processProtocol().counts().slotLimit).toBe(pluginLimit)
    }
  })

  it('share only functions', () => {
    const shared = Object.getOwnPropertyDescriptors(processProtocol())
    expect(Object.keys(shared)).toEqual([
      'takeSlot',
      'setSlotLimit',
      'takeLock',
      'endWithProcess',
      'counts',
    ])
    for (const { value, writable } of Object.values(shared)) {
      expect([typeof value, writable]).toEqual(['function', false])
    }
  })

  it('recognize each other’s errors', async () => {
    const error: unknown = await older.connect({ kubeconfig: '/nowhere' }).catch((reason) => reason)
    expect(isCredentialError(error)).toBe(true)
    expect(newer.isCredentialError(error)).toBe(true)
  })

  it('reject each other’s objects with an error that names both versions', async () => {
    const other = (what: string) =>
      `of kubecred ${NEWER} cannot use the ${what} of kubecred ${OLDER}: take both from one version`
    await using cluster = await older.connect({ server: sandbox.url, env: env() })
    expect(() => newer.createAgent(cluster)).toThrow(`createAgent() ${other('Cluster')}`)
    const vault = new older.Vault()
    await expect(newer.connect({ vault })).rejects.toThrow(`connect() ${other('Vault')}`)
    const kc = new KubeConfig()
    kc.loadFromFile(sandbox.writeKubeconfig({ user: { token: 'x' } }))
    await using _ = older.attach(kc)
    expect(() => newer.attach(kc)).toThrow(`attach() ${other('attachment')}`)
  })
})

const plan = (plugin: { path: string }, interactiveMode: 'Never' | 'Always'): string =>
  sandbox.writeKubeconfig({ user: { exec: { command: plugin.path, interactiveMode } } })

describe.runIf(process.platform === 'linux')('the plugins of all versions are ended', () => {
  it.each([
    ['with the process', 'shared'],
    ['with the process, even if the copies cannot share', 'empty'],
  ])('%s', async (_, way) => {
    using plugin = makePlugin()
    plugin.behave('hangs')
    const args = [program, plan(plugin, 'Never'), way, urls.older, urls.newer]
    const running = new RunningProgram(process.execPath, args)
    await running.until('out', /plugin-stderr.*plugin-stderr/s)
    expect(findProcesses({ naming: plugin.path })).toHaveLength(2)
    running.child.kill('SIGTERM')
    await running.ended()
    expect(running.child.signalCode).toBe('SIGTERM')
    await vi.waitFor(() => expect(findProcesses({ naming: plugin.path })).toEqual([]))
  })
})

describe.runIf(hasScript)(`the terminal (${NEEDS_SCRIPT})`, () => {
  it('is used by one plugin at a time, whatever the versions', async () => {
    using plugin = makePlugin()
    plugin.behave('asks')
    plugin.answer({ token: 'asked' })
    const args = [program, plan(plugin, 'Always'), 'shared', urls.older, urls.newer]
    const running = new RunningProgram(...onTerminal(quoteWords(process.execPath, ...args)))
    for (const asked of [/PIN: /, /PIN: .*PIN: /s]) {
      await running.until('out', asked)
      running.child.stdin?.write('1234\r')
    }
    const { status, out } = await running.ended()
    expect(status).toBe(0)
    for (const version of [OLDER, NEWER]) expect(out).toContain(`${version} has asked`)
    expect(plugin.read('turns')).toBe('asks\ndone\nasks\ndone\n')
  })
})

describe('a copy that finds an unusable shared object', () => {
  it.each(['empty', 'null', 'number', 'throws'])('works, and warns: %s', (way) => {
    using plugin = makePlugin()
    plugin.answer({ token: 'alone' })
    const args = [program, plan(plugin, 'Never'), way, urls.newer]
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(status).toBe(0)
    expect(stdout).toContain(`${NEWER} has alone`)
    expect(stdout.match(/warning: KUBECRED_NOT_SHARED/g)).toHaveLength(1)
  })
})
