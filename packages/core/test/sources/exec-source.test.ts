import { describe, expect, it } from 'vitest'
import { PluginDeniedError, PluginNeedsTerminalError } from '../../src/errors/index.ts'
import type { InteractiveMode } from '../../src/kubeconfig/exec-config.ts'
import { nodePrograms } from '../../src/node/node-programs.ts'
import type { RunOutcome } from '../../src/ports/programs.ts'
import {
  answered,
  listening,
  makeSource,
  NOBODY,
  type SourceOptions,
} from '../fixtures/exec-source.ts'
import { makePlugin, type PluginFolder } from '../fixtures/plugin-folder.ts'

interface Told {
  readonly argv0: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Runs a real plugin and returns what it was told. */
async function told(
  plugin: PluginFolder,
  options: SourceOptions,
  folders?: string[],
): Promise<Told> {
  plugin.answer({ token: 'a-token' })
  plugin.behave('reports')
  const programs = nodePrograms(options.hostEnv ?? {}, folders)
  await makeSource({ command: plugin.path, ...options }, programs).source.acquire(NOBODY)
  return JSON.parse(plugin.read('runs').trim().split('\n').at(-1) ?? '')
}

describe('the environment of a plugin', () => {
  it('is the host’s, then the stanza’s, then the input', async () => {
    using plugin = makePlugin()
    const { env } = await told(plugin, {
      hostEnv: { A: 'host', B: 'host', KUBERNETES_EXEC_INFO: 'host', NONE: undefined },
      env: { B: 'stanza', C: 'stanza', KUBERNETES_EXEC_INFO: 'stanza' },
    })
    const { KUBERNETES_EXEC_INFO: info = '', ...rest } = env
    expect(rest).toEqual({ A: 'host', B: 'stanza', C: 'stanza' })
    expect(JSON.parse(info)).toMatchObject({ kind: 'ExecCredential', spec: { interactive: false } })
  })

  it('has only the host’s variables that are let through, but all of the stanza’s', async () => {
    using plugin = makePlugin()
    const hostEnv = { PATH: '/bin', AWS_PROFILE: 'prod', SECRET: 'x' }
    const options = { hostEnv, env: { OWN: 'y' } }
    const passEnv = ['PATH', 'MISSING']
    const { env } = await told(plugin, { ...options, plugin: { passEnv } })
    expect(Object.keys(env).sort()).toEqual(['KUBERNETES_EXEC_INFO', 'OWN', 'PATH'])
    const none = await told(plugin, { ...options, plugin: { passEnv: [] } })
    expect(Object.keys(none.env).sort()).toEqual(['KUBERNETES_EXEC_INFO', 'OWN'])
  })

  it('has no PIN of a signer, and no request to one, unless the stanza says so', async () => {
    const hostEnv = {
      HOST: 'yes',
      EXTERNAL_SIGNER_PLUGIN_CONFIG: '{"pin":"4711"}',
      KUBECRED_SIGNER_MESSAGE: 'AA==',
      KUBECRED_SIGNER_FD: '3',
      KUBECRED_PKCS11_PIN: '4711',
      KUBECRED_PKCS11_PIN_WORK: '4711',
    }
    const env = { KUBECRED_PKCS11_PIN_OWN: 'given' }
    const { source, requests } = makeSource({ hostEnv, env })
    await source.acquire(NOBODY)
    const { KUBERNETES_EXEC_INFO: _, ...told } = requests[0]?.env ?? {}
    expect(told).toEqual({ HOST: 'yes', ...env })
  })

  it('of two equal names in the stanza has the last', async () => {
    const env = [
      ['A', 'first'],
      ['A', 'last'],
    ] as const
    const { source, requests } = makeSource({ env })
    await source.acquire(NOBODY)
    expect(requests[0]?.env['A']).toBe('last')
  })
})

describe('a plugin is found', () => {
  it('through the host’s PATH, not through the one it is given', async () => {
    using plugin = makePlugin('my-plugin')
    const { env } = await told(plugin, {
      command: 'my-plugin',
      hostEnv: { PATH: plugin.folder },
      env: { PATH: '/nowhere' },
    })
    expect(env['PATH']).toBe('/nowhere')
    const lost = told(plugin, {
      command: 'my-plugin',
      hostEnv: { PATH: '/nowhere' },
      env: { PATH: plugin.folder },
    })
    await expect(lost).rejects.toMatchObject({ code: 'ERR_PLUGIN_NOT_FOUND' })
  })

  it('in extra folders, also without a PATH', async () => {
    using plugin = makePlugin('my-plugin')
    const { args } = await told(plugin, { command: 'my-plugin', args: ['a b'] }, [plugin.folder])
    expect(args).toEqual(['a b'])
  })

  it('and started as it was configured, from the path that was checked', async () => {
    const found = { is: 'found', path: '/bin/real', realPath: '/opt/real' } as const
    const { source, requests } = makeSource({ command: 'my-plugin' }, { locate: async () => found })
    await source.acquire(NOBODY)
    expect(requests).toMatchObject([{ command: 'my-plugin', path: '/bin/real' }])
  })

  it('or not, and then its own install hint is shown', async () => {
    const options = { command: 'my-plugin', installHint: 'Run brew install my-plugin.' }
    const lost = makeSource(options, nodePrograms({ PATH: '/nowhere' })).source.acquire(NOBODY)
    await expect(lost).rejects.toMatchObject({ hint: 'Run brew install my-plugin.' })
  })

  it('or not, and then no control character of its name reaches the terminal', async () => {
    for (const command of ['/nowhere/\u001b[2J/plugin', `/bin/sh/../${'\u001b'.repeat(300)}`]) {
      const lost = makeSource({ command }, nodePrograms({})).source.acquire(NOBODY)
      const { message } = await lost.catch((error) => error)
      expect(message).not.toContain('\u001b')
    }
  })
})

describe('whether a plugin may ask a person', () => {
  const NO_TERMINAL = 'standard input is not a terminal'
  // Mode, terminal, who reads standard input, whether the run is ahead of time; then what follows.
  it.each<[InteractiveMode, boolean, string | undefined, boolean, boolean | string]>([
    ['Never', false, undefined, false, false],
    ['Never', true, undefined, false, false],
    ['Never', true, 'x', false, false],
    ['IfAvailable', false, undefined, false, false],
    ['IfAvailable', true, undefined, false, true],
    ['IfAvailable', true, 'x', false, false],
    ['IfAvailable', true, undefined, true, false],
    ['Always', false, undefined, false, NO_TERMINAL],
    ['Always', false, 'x', false, NO_TERMINAL],
    ['Always', true, undefined, false, true],
    ['Always', true, '', false, 'standard input is unavailable'],
    ['Always', true, 'used by -f -', false, 'standard input is unavailable: used by -f -'],
    ['Always', true, undefined, true, 'nobody is waiting for this run'],
  ])(
    '%s, terminal %s, read by %s, ahead %s: %s',
    async (mode, isTerminal, reader, ahead, expected) => {
      const plugin = reader === undefined ? {} : { stdinUnavailable: reader }
      const { source, requests } = makeSource({ interactiveMode: mode, isTerminal, plugin })
      const asking = source.acquire(listening({ reason: ahead ? 'ahead' : 'first' }).ask)
      if (typeof expected === 'string') {
        await expect(asking).rejects.toThrow(PluginNeedsTerminalError)
        await expect(asking).rejects.toThrow(`cannot ask you anything: ${expected}`)
        expect(requests).toEqual([])
        return
      }
      await asking
      const timeoutMs = expected ? 2000 : 1000
      expect(requests).toMatchObject([{ interactive: expected, timeoutMs, stdoutLimit: 3000 }])
      const info = JSON.parse(requests[0]?.env['KUBERNETES_EXEC_INFO'] ?? '')
      expect(info.spec.interactive).toBe(expected)
    },
  )

  it.each<[InteractiveMode, boolean, boolean]>([
    ['Never', true, false],
    ['IfAvailable', true, true],
    ['Always', false, true],
  ])('%s: a run ahead of time %s, one that asks %s', (interactiveMode, mayRunAhead, mayAsk) => {
    expect(makeSource({ interactiveMode }).lifecycle).toEqual({ mayRunAhead, mayAsk })
  })
})

describe('the policy', () => {
  const pinned = {
    type: 'Allowlist',
    origin: 'kuberc',
    allowlist: [{ command: '/bin/plugin', sha256: '0'.repeat(64) }],
  } as const

  it('denies a program whose digest cannot be read', async () => {
    const sha256 = () => Promise.reject(new Error('EACCES'))
    const { source, requests } = makeSource({ policy: pinned }, { sha256 })
    await expect(source.acquire(NOBODY)).rejects.toThrow(PluginDeniedError)
    expect(requests).toEqual([])
  })

  it('looks nothing up when it denies all', async () => {
    const locate = () => Promise.reject(new Error('looked up'))
    const { source } = makeSource({ policy: { type: 'DenyAll', origin: 'kuberc' } }, { locate })
    const { ask, reports } = listening()
    await expect(source.acquire(ask)).rejects.toThrow(PluginDeniedError)
    expect(reports).toEqual([{ type: 'policy', verdict: 'denied', command: '/bin/plugin' }])
  })

  it('is told when it allows', async () => {
    const { ask, reports } = listening()
    await makeSource().source.acquire(ask)
    expect(reports).toContainEqual({ type: 'policy', verdict: 'allowed', command: '/bin/plugin' })
  })
})

it('tells what the operating system said when it knows no better', async () => {
  const outcome: RunOutcome = {
    ended: 'not-started',
    errno: 'EMFILE',
    reason: 'spawn EMFILE',
    tookMs: 0,
    stderrTail: '',
  }
  const { source } = makeSource({}, { run: async () => outcome })
  const message = 'credential plugin "/bin/plugin" cannot start: EMFILE (spawn EMFILE)'
  await expect(source.acquire(NOBODY)).rejects.toMatchObject({
    code: 'ERR_PLUGIN_NOT_STARTED',
    message,
  })
})

it('keeps nothing: each time it is asked, the plugin runs', async () => {
  let runs = 0
  const { source } = makeSource({}, { run: async () => answered({ token: `token-${++runs}` }) })
  const tokens = [await source.acquire(NOBODY), await source.acquire(NOBODY)]
  expect(tokens.map(({ credential }) => credential.token?.expose())).toEqual(['token-1', 'token-2'])
})
