import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type KubeconfigExec, type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type ConnectOptions, connect } from 'kubecred'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Keeper } from '../../src/keeper/keeper.ts'
import {
  acquireRunSlot,
  acquireSharedKeeper,
  processProtocol,
  versionRegistry,
} from '../../src/node/process-registry.ts'
import { makePlugin } from '../fixtures/plugin-folder.ts'
import { findProcesses } from '../fixtures/processes.ts'

let sandbox: Sandbox
let exec: KubeconfigExec
beforeAll(async () => {
  sandbox = await startSandbox()
  exec = await sandbox.plugin({ user: 'jane', delayMs: 50 })
})
afterAll(() => sandbox.close())
beforeEach(() => sandbox.resetPluginRuns())

interface Variant extends Partial<KubeconfigExec> {
  readonly extension?: unknown
  readonly options?: ConnectOptions
}

function open({ extension, options, ...change }: Variant = {}) {
  const user = { exec: { ...exec, ...change, env: { ...exec.env, ...change.env } } }
  const kubeconfig = sandbox.writeKubeconfig({ user, extension })
  return connect({ kubeconfig, env: { HOME: sandbox.folder }, ...options })
}

async function status(cluster: Awaited<ReturnType<typeof connect>>): Promise<number> {
  const response = await cluster.fetch('/api/v1/namespaces')
  await response.arrayBuffer()
  return response.status
}

describe('connections of one process', () => {
  it('share a run if they have the same plugin with the same input', async () => {
    const before = versionRegistry().keepers.size
    const clusters = await Promise.all([open(), open(), open({ args: [] })])
    expect(versionRegistry().keepers.size).toBe(before + 1)
    expect(await Promise.all(clusters.map(status))).toEqual([200, 200, 200])
    expect(sandbox.pluginRuns).toBe(1)
    for (const cluster of clusters) await cluster.close()
  })

  it.each<[string, Variant, Variant?]>([
    ['arguments', { args: ['--role', 'admin'] }],
    ['the order of arguments', { args: ['a', 'b'] }, { args: ['b', 'a'] }],
    ['the boundaries of arguments', { args: ['a b'] }, { args: ['a', 'b'] }],
    ['variables', { env: { ROLE: 'admin' } }],
    ['the value of a variable', { env: { ROLE: 'a' } }, { env: { ROLE: 'b' } }],
    ['cluster information', { provideClusterInfo: true }],
    [
      'the extension of the cluster',
      { provideClusterInfo: true, extension: { audience: 'a' } },
      { provideClusterInfo: true, extension: { audience: 'b' } },
    ],
    ['API version', { apiVersion: 'client.authentication.k8s.io/v1beta1' }],
    ['interactive mode', { interactiveMode: 'Never' }],
    ['limits', { options: { policy: { pluginTimeoutMs: 59_000 } } }],
    ['the variables that are passed on', { options: { policy: { pluginEnv: ['PATH'] } } }],
    ['the host environment', { options: { env: { HOME: '/', ROLE: 'admin' } } }],
    ['whether standard input is available', { options: { stdinUnavailable: 'manifest' } }],
  ])('do not share a run if they differ in %s', async (_, one, other = {}) => {
    const clusters = await Promise.all([open(one), open(other)])
    expect(await Promise.all(clusters.map(status))).toEqual([200, 200])
    expect(sandbox.pluginRuns).toBe(2)
    for (const cluster of clusters) await cluster.close()
  })

  it('share a run if they differ in an extension that the plugin does not receive', async () => {
    const clusters = await Promise.all([open({ extension: 1 }), open({ extension: 2 })])
    await Promise.all(clusters.map(status))
    expect(sandbox.pluginRuns).toBe(1)
    for (const cluster of clusters) await cluster.close()
  })

  it('keep a credential until the last of them closes', async () => {
    const before = versionRegistry().keepers.size
    const [one, other] = await Promise.all([open(), open()])
    await status(one)
    await one.close()
    await one.close()
    expect(await status(other)).toBe(200)
    expect(sandbox.pluginRuns).toBe(1)
    await other.close()
    expect(versionRegistry().keepers.size).toBe(before)
    await using later = await open()
    await status(later)
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('count once, however often they release', async () => {
    const close = vi.fn(async () => {})
    const make = () => ({ close }) as unknown as Keeper
    const [one, other] = [acquireSharedKeeper('id', make), acquireSharedKeeper('id', make)]
    expect(one.keeper).toBe(other.keeper)
    await one.release()
    await one.release()
    expect(close).not.toHaveBeenCalled()
    await other.release()
    expect(close).toHaveBeenCalledOnce()
    expect(versionRegistry().keepers.has('id')).toBe(false)
  })

  it('leave no keeper behind if they fail', async () => {
    const before = versionRegistry().keepers.size
    const cluster = await open({ command: '/nowhere/plugin' })
    await expect(status(cluster)).rejects.toMatchObject({ code: 'ERR_PLUGIN_NOT_FOUND' })
    await cluster.close()
    expect(versionRegistry().keepers.size).toBe(before)
  })
})

describe('the limit of concurrent plugins', () => {
  it('is eight, and waiting plugins run later', async () => {
    const { counts } = processProtocol()
    const seen = new Set<number>()
    const observer = () => void seen.add(counts().slots)
    const variants = Array.from({ length: 12 }, (_, i) => ({
      args: [`${i}`],
      options: { observer },
    }))
    const clusters = await Promise.all(variants.map((variant) => open(variant)))
    expect(await Promise.all(clusters.map(status))).toEqual(clusters.map(() => 200))
    expect(sandbox.pluginRuns).toBe(12)
    expect(Math.max(...seen)).toBe(8)
    expect(counts().slots).toBe(0)
    for (const cluster of clusters) await cluster.close()
  })

  it('is changed for the whole process by pluginLimit', async () => {
    const { counts, setSlotLimit } = processProtocol()
    await using _ = await open({ options: { policy: { pluginLimit: 3 } } })
    expect(counts().slotLimit).toBe(3)
    setSlotLimit(8)
  })
})

describe('a lock', () => {
  const { takeLock, counts } = processProtocol()

  it('is held by one caller at a time, in the order of the calls, separately for each name', async () => {
    const got: string[] = []
    const take = async (name: string, who: string) => {
      const release = await takeLock(name)
      got.push(who)
      return release
    }
    const [first, second, other] = [take('a', '1'), take('a', '2'), take('b', '3')]
    const release = await first
    ;(await other)()
    expect(got).toEqual(['1', '3'])
    release()
    release()
    const third = take('a', '4')
    ;(await second)()
    ;(await third)()
    expect(got).toEqual(['1', '3', '2', '4'])
    expect(counts().locks).toBe(0)
  })

  it('is not granted to a caller that has aborted', async () => {
    const release = await takeLock('a')
    const leaving = new AbortController()
    const waiting = takeLock('a', leaving.signal)
    leaving.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    release()
    await expect(takeLock('a', leaving.signal)).rejects.toThrow('gone')
    expect(counts().locks).toBe(0)
  })

  it('on the terminal is waited for without a slot, and released if the caller aborts', async () => {
    const signal = new AbortController().signal
    const leaving = new AbortController()
    const release = await acquireRunSlot({ interactive: true, signal })
    const waiting = acquireRunSlot({ interactive: true, signal: leaving.signal })
    expect(counts()).toMatchObject({ slots: 1, locks: 1 })
    release()
    leaving.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    expect(counts()).toMatchObject({ slots: 0, locks: 0 })
  })
})

describe.runIf(process.platform === 'linux')('a plugin that still runs is ended', () => {
  const runner = fileURLToPath(new URL('../fixtures/ends-early.mjs', import.meta.url))

  it.concurrent.each<[string, string, NodeJS.Signals | undefined, unknown]>([
    ['when the program exits', 'exits', undefined, [0, null]],
    ['when the program fails', 'throws', undefined, [1, null]],
    ['when a signal ends the program', 'waits', 'SIGTERM', [null, 'SIGTERM']],
    ['on Ctrl-C', 'waits', 'SIGINT', [null, 'SIGINT']],
    ['on Ctrl-\\', 'waits', 'SIGQUIT', [null, 'SIGQUIT']],
    ['when a watchdog aborts the program', 'waits', 'SIGABRT', [null, 'SIGABRT']],
  ])('%s', async (_, way, signal, ended) => {
    using plugin = makePlugin()
    plugin.behave('hangs')
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec: { command: plugin.path } } })
    const stdio = ['ignore', 'pipe', 'ignore'] as const
    // No core dumps, which are slow.
    const line = ['ulimit -c 0; exec "$0" "$@"', process.execPath, runner, kubeconfig, way]
    const program = spawn('/bin/sh', ['-c', ...line], { stdio: [...stdio] })
    const exited = once(program, 'exit')
    await once(program.stdout, 'data')
    if (signal !== undefined) {
      expect(findProcesses({ naming: plugin.path })).toHaveLength(1)
      program.kill(signal)
    }
    expect(await exited).toEqual(ended)
    await vi.waitFor(() => expect(findProcesses({ naming: plugin.path })).toEqual([]))
  })

  it('only when the program exits, if the program handles signals itself', async () => {
    using plugin = makePlugin()
    plugin.behave('hangs')
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec: { command: plugin.path } } })
    const program = spawn(process.execPath, [runner, kubeconfig, 'decides'])
    const exited = once(program, 'exit')
    for (const output of ['runs', 'heard']) {
      expect(String(await once(program.stdout, 'data'))).toBe(output)
      expect(findProcesses({ naming: plugin.path })).toHaveLength(1)
      program.kill('SIGTERM')
    }
    expect(await exited).toEqual([7, null])
    await vi.waitFor(() => expect(findProcesses({ naming: plugin.path })).toEqual([]))
  })

  const listeners = () =>
    ['SIGINT', 'SIGQUIT', 'SIGABRT', 'SIGTERM', 'SIGHUP'].map((name) => process.listenerCount(name))

  it('and signal listeners are removed while none runs', async () => {
    const before = listeners()
    const { endWithProcess } = processProtocol()
    const [one, other] = [endWithProcess(() => {}), endWithProcess(() => {})]
    expect(listeners()).toEqual(before.map((count) => count + 1))
    one()
    other()
    await vi.waitFor(() => expect(listeners()).toEqual(before))
  })

  it('and a signal that is reported after the exit of the plugin still ends the program', async () => {
    const before = listeners()
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    const others = process.listeners('SIGINT')
    process.removeAllListeners('SIGINT')
    try {
      processProtocol().endWithProcess(() => {})()
      process.emit('SIGINT', 'SIGINT')
      expect(kill).toHaveBeenCalledWith(process.pid, 'SIGINT')
    } finally {
      kill.mockRestore()
      for (const other of others) process.on('SIGINT', other)
    }
    await vi.waitFor(() => expect(listeners()).toEqual(before))
  })
})
