import { mkdir, rename } from 'node:fs/promises'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type ConnectPolicy, type CredentialEvent, connect, isCredentialError } from 'kubecred'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type CredentialError,
  PluginEnvironmentError,
  PluginInputTooLargeError,
  PluginNotFoundError,
} from '../../src/errors/index.ts'
import {
  ARG_SECRET,
  type BadPlugin,
  ENV_SECRET,
  MISBEHAVING,
  type Pairs,
  STDOUT_SECRET,
  UNSTARTABLE,
  WRONG_ANSWERS,
} from '../fixtures/bad-plugins.ts'
import { makePair } from '../fixtures/make-certificates.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { makePlugin, type PluginFolder } from '../fixtures/plugin-folder.ts'
import { countDescriptors, findProcesses, isRunning } from '../fixtures/processes.ts'

const PATH = '/api/v1/namespaces'
const SECRETS = [ARG_SECRET, ENV_SECRET, STDOUT_SECRET]
const isLinux = process.platform === 'linux'
const folders: string[] = []
let sandbox: Sandbox
let pairs: Pairs
let descriptors = 0

beforeAll(async () => {
  const [one, other, expired] = await Promise.all([
    makePair(),
    makePair(),
    makePair({ lifetimeMs: -60_000 }),
  ])
  pairs = { one, other, expired }
  // What is loaded and opened once for all is there after a first round.
  sandbox = await startSandbox()
  using plugin = goodPlugin()
  const { cluster } = await open(plugin)
  await expectSuccess(cluster)
  await cluster.close()
  await sandbox.close()
  descriptors = isLinux ? countDescriptors() : 0
  sandbox = await startSandbox()
})

afterAll(async () => {
  await sandbox.close()
  if (!isLinux) return
  await vi.waitFor(() => {
    expect(findProcesses({ parent: process.pid })).toEqual([])
    for (const naming of folders) expect(findProcesses({ naming })).toEqual([])
    expect(countDescriptors()).toBeLessThanOrEqual(descriptors)
  }, 10_000)
})

function goodPlugin(name?: string): PluginFolder {
  const plugin = makePlugin(name)
  folders.push(plugin.folder)
  plugin.answer({ token: sandbox.issueToken({ user: 'jane' }).token })
  return plugin
}

interface Opening {
  readonly command?: string
  readonly policy?: ConnectPolicy | undefined
  readonly env?: Record<string, string>
  readonly extension?: unknown
}

async function open(plugin: PluginFolder, { command, policy, env, extension }: Opening = {}) {
  const exec = {
    command: command ?? plugin.path,
    args: ['get-token', '--client-secret', ARG_SECRET],
    env: { CLIENT_SECRET: ENV_SECRET, ...env },
    provideClusterInfo: extension !== undefined,
  }
  const events: CredentialEvent[] = []
  const cluster = await connect({
    kubeconfig: sandbox.writeKubeconfig({ user: { exec }, extension }),
    policy: { backoffFirstMs: 20, ...policy },
    env: { PATH: plugin.folder, HOME: plugin.folder },
    observer: (event) => events.push(event),
  })
  return { cluster, events }
}

type Opened = Awaited<ReturnType<typeof open>>

async function failure(opened: Opened['cluster']): Promise<CredentialError> {
  const outcome: unknown = await opened.fetch(PATH).catch((error: unknown) => error)
  if (!isCredentialError(outcome)) throw new Error('no error of ours', { cause: outcome })
  return outcome as CredentialError
}

/** Asks again until the back-off is over. */
async function expectSuccess(cluster: Opened['cluster']): Promise<void> {
  const options = { timeout: 10_000, interval: 5 }
  const response = await vi.waitFor(() => cluster.fetch(PATH), options)
  await response.arrayBuffer()
  expect(response.status).toBe(200)
}

function expectExplained(
  error: CredentialError,
  expected: Pick<BadPlugin, 'error' | 'code' | 'says' | 'hint' | 'stderrTail'>,
  { cluster, events }: Opened,
): void {
  expect(error).toBeInstanceOf(expected.error)
  expect(error).toMatchObject({ name: expected.error.name, code: expected.code })
  expect(error.message).toMatch(/^credential plugin "[^"]*plugin" /)
  expect(error.message).toMatch(expected.says)
  expect(error.hint).toMatch(/^[A-Z].*\.$/)
  if (expected.hint) expect(error.hint).toMatch(expected.hint)
  if (expected.stderrTail)
    expect(error).toMatchObject({ stderrTail: expect.stringMatching(expected.stderrTail) })
  expect((error as { stderrTail?: string }).stderrTail?.length ?? 0).toBeLessThanOrEqual(4096)
  expect(events).toContainEqual(expect.objectContaining({ type: 'run-failed', error }))
  expectNoLeak([error, events, cluster.status()], SECRETS)
}

describe.each([
  ['cannot be started', UNSTARTABLE],
  ['misbehaves', MISBEHAVING],
  ['prints the wrong thing', WRONG_ANSWERS],
])('a plugin that %s', (_, table) => {
  it.each(table)('has its own error, and leaves nothing behind: $is', async (bad) => {
    using plugin = goodPlugin()
    bad.breaks(plugin, pairs)
    const opened = await open(plugin, { policy: bad.policy })
    const { cluster } = opened
    const before = sandbox.requests.length

    const error = await failure(cluster)
    expectExplained(error, bad, opened)
    expect(cluster.status().credential).toMatchObject({ state: 'failed', runs: 1 })
    expect(sandbox.requests.length).toBe(before)

    plugin.install()
    await expectSuccess(cluster)
    // The good one is held to the same limits, and a slow machine may make it late once.
    const failed = opened.events.filter((event) => event.type === 'run-failed').length
    expect(cluster.status().credential).toMatchObject({ state: 'ready', runs: failed + 1 })
    await cluster.close()
  })
})

it('a plugin is looked up again after it was installed, if only its name is configured', async () => {
  using plugin = goodPlugin('my-plugin')
  using empty = makePlugin('none')
  const folder = plugin.folder
  const opened = await open(empty, {
    command: 'my-plugin',
    policy: { pluginFolders: [`${folder}/bin`] },
  })
  const error = await failure(opened.cluster)
  const says = new RegExp(`was not found \\(looked in ${folder}/bin, ${empty.folder}\\)`)
  const expected = { error: PluginNotFoundError, code: 'ERR_PLUGIN_NOT_FOUND', says } as const
  expectExplained(error, expected, opened)
  await rename(folder, `${folder}-moved`)
  await mkdir(folder)
  await rename(`${folder}-moved`, `${folder}/bin`)
  await expectSuccess(opened.cluster)
  await opened.cluster.close()
})

it.each([
  {
    is: 'a NUL byte in its environment',
    bad: { env: { BROKEN: `${ENV_SECRET}\0` } },
    error: PluginEnvironmentError,
    code: 'ERR_PLUGIN_ENVIRONMENT' as const,
    says: /contains a NUL byte/,
  },
  {
    is: 'a variable that would hide its input',
    bad: { env: { 'KUBERNETES_EXEC_INFO={}': ENV_SECRET } },
    error: PluginEnvironmentError,
    code: 'ERR_PLUGIN_ENVIRONMENT' as const,
    says: /a name in exec\.env contains "="/,
  },
  {
    is: '140 kB of cluster information',
    bad: { extension: { audience: ENV_SECRET.repeat(140_000 / ENV_SECRET.length) } },
    error: PluginInputTooLargeError,
    code: 'ERR_PLUGIN_INPUT_TOO_LARGE' as const,
    says: /KUBERNETES_EXEC_INFO has 14\d{4} bytes/,
  },
])('a plugin is not started with $is, and is once that is corrected', async (wrong) => {
  using plugin = goodPlugin()
  const opened = await open(plugin, wrong.bad)
  expectExplained(await failure(opened.cluster), wrong, opened)
  await opened.cluster.close()
  const { cluster } = await open(plugin)
  await expectSuccess(cluster)
  await cluster.close()
})

it('a plugin returns its credential although a child keeps standard output open', async () => {
  using plugin = goodPlugin()
  plugin.behave('keeps-stdout')
  const { cluster } = await open(plugin)
  await expectSuccess(cluster)
  const grandchild = Number(plugin.read('grandchild'))
  expect(isRunning(grandchild)).toBe(true)
  await cluster.close()
  expect(isRunning(grandchild)).toBe(true)
  process.kill(grandchild, 'SIGKILL')
})

it('a plugin is stopped with its children when the connection is closed while it runs', async () => {
  using plugin = goodPlugin()
  plugin.behave('hangs')
  const { cluster, events } = await open(plugin)
  const request = cluster.fetch(PATH)
  const refused = expect(request).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  await vi.waitFor(() =>
    expect(events).toContainEqual(expect.objectContaining({ type: 'plugin-stderr' })),
  )
  await cluster.close()
  await refused
  if (!isLinux) return
  await vi.waitFor(() => expect(findProcesses({ naming: plugin.folder })).toEqual([]))
})
