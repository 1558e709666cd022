import { describe, expect, it } from 'vitest'
import { PluginDeniedError, PluginNeedsTerminalError } from '../../src/errors/index.ts'
import type { InteractiveMode } from '../../src/kubeconfig/exec-config.ts'
import { nodePrograms } from '../../src/node/node-programs.ts'
import type { RunOutcome } from '../../src/ports/programs.ts'
import {
  answered,
  FIRST_RUN,
  listening,
  makeSource,
  type SourceOptions,
} from '../fixtures/exec-source.ts'
import { makePlugin, type PluginFolder } from '../fixtures/plugin-folder.ts'

interface PluginInput {
  readonly argv0: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Runs a real plugin and returns its arguments and environment. */
async function inputOf(
  plugin: PluginFolder,
  options: SourceOptions,
  folders?: string[],
): Promise<PluginInput> {
  plugin.answer({ token: 'a-token' })
  plugin.behave('reports')
  const programs = nodePrograms(options.hostEnv ?? {}, folders)
  await makeSource({ command: plugin.path, ...options }, programs).source.acquire(FIRST_RUN)
  return JSON.parse(plugin.read('runs').trim().split('\n').at(-1) ?? '')
}

describe('the environment of a plugin', () => {
  it('is the host environment, then exec.env, then the exec info', async () => {
    using plugin = makePlugin()
    const { env } = await inputOf(plugin, {
      hostEnv: { A: 'host', B: 'host', KUBERNETES_EXEC_INFO: 'host', NONE: undefined },
      env: { B: 'stanza', C: 'stanza', KUBERNETES_EXEC_INFO: 'stanza' },
    })
    const { KUBERNETES_EXEC_INFO: info = '', ...rest } = env
    expect(rest).toEqual({ A: 'host', B: 'stanza', C: 'stanza' })
    expect(JSON.parse(info)).toMatchObject({ kind: 'ExecCredential', spec: { interactive: false } })
  })

  it('has only the host variables that passEnv allows, but all of exec.env', async () => {
    using plugin = makePlugin()
    const hostEnv = { PATH: '/bin', AWS_PROFILE: 'prod', SECRET: 'x' }
    const options = { hostEnv, env: { OWN: 'y' } }
    const passEnv = ['PATH', 'MISSING']
    const { env } = await inputOf(plugin, { ...options, plugin: { passEnv } })
    expect(Object.keys(env).sort()).toEqual(['KUBERNETES_EXEC_INFO', 'OWN', 'PATH'])
    const none = await inputOf(plugin, { ...options, plugin: { passEnv: [] } })
    expect(Object.keys(none.env).sort()).toEqual(['KUBERNETES_EXEC_INFO', 'OWN'])
  })

  it('has no PIN and no request of a signer, unless exec.env sets it', async () => {
    const hostEnv = {
      HOST: 'yes',
      EXTERNAL_SIGNER_PLUGIN_CONFIG: '{"pin":"4711"}',
      KUBECRED_SIGNER_MESSAGE: 'AA==',
      KUBECRED_SIGNER_FD: '3',
      KUBECRED_PKCS11_PIN: '4711',
      KUBECRED_PKCS11_PIN_WORK: '4711',
    }
    const stanzaEnv = { KUBECRED_PKCS11_PIN_OWN: 'given' }
    const { source, requests } = makeSource({ hostEnv, env: stanzaEnv })
    await source.acquire(FIRST_RUN)
    const { KUBERNETES_EXEC_INFO: _, ...env } = requests[0]?.env ?? {}
    expect(env).toEqual({ HOST: 'yes', ...stanzaEnv })
  })

  it('has the last value if a name appears twice in exec.env', async () => {
    const env = [
      ['A', 'first'],
      ['A', 'last'],
    ] as const
    const { source, requests } = makeSource({ env })
    await source.acquire(FIRST_RUN)
    expect(requests[0]?.env['A']).toBe('last')
  })
})

describe('the executable of a plugin', () => {
  it('is found through the PATH of the host, not that of exec.env', async () => {
    using plugin = makePlugin('my-plugin')
    const { env } = await inputOf(plugin, {
      command: 'my-plugin',
      hostEnv: { PATH: plugin.folder },
      env: { PATH: '/nowhere' },
    })
    expect(env['PATH']).toBe('/nowhere')
    const lost = inputOf(plugin, {
      command: 'my-plugin',
      hostEnv: { PATH: '/nowhere' },
      env: { PATH: plugin.folder },
    })
    await expect(lost).rejects.toMatchObject({ code: 'ERR_PLUGIN_NOT_FOUND' })
  })

  it('is found in extra folders, also without a PATH', async () => {
    using plugin = makePlugin('my-plugin')
    const { args } = await inputOf(plugin, { command: 'my-plugin', args: ['a b'] }, [plugin.folder])
    expect(args).toEqual(['a b'])
  })

  it('is started from the path that was checked, under its configured name', async () => {
    const found = { is: 'found', path: '/bin/real', realPath: '/opt/real' } as const
    const { source, requests } = makeSource({ command: 'my-plugin' }, { locate: async () => found })
    await source.acquire(FIRST_RUN)
    expect(requests).toMatchObject([{ command: 'my-plugin', path: '/bin/real' }])
  })

  it('has its installHint in the error if it is not found', async () => {
    const options = { command: 'my-plugin', installHint: 'Run brew install my-plugin.' }
    const lost = makeSource(options, nodePrograms({ PATH: '/nowhere' })).source.acquire(FIRST_RUN)
    await expect(lost).rejects.toMatchObject({ hint: 'Run brew install my-plugin.' })
  })

  it('is named without control characters in the error', async () => {
    for (const command of ['/nowhere/\u001b[2J/plugin', `/bin/sh/../${'\u001b'.repeat(300)}`]) {
      const lost = makeSource({ command }, nodePrograms({})).source.acquire(FIRST_RUN)
      const { message } = await lost.catch((error) => error)
      expect(message).not.toContain('\u001b')
    }
  })
})

describe('whether a plugin can prompt the user', () => {
  const NO_TERMINAL = 'standard input is not a terminal'
  // interactiveMode, terminal, what else uses standard input, whether the run is ahead of the expiry; the result.
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
    ['Always', true, undefined, true, 'no request is waiting for this run'],
  ])(
    '%s, terminal %s, stdin used by %s, ahead %s: %s',
    async (mode, isTerminal, reader, ahead, expected) => {
      const plugin = reader === undefined ? {} : { stdinUnavailable: reader }
      const { source, requests } = makeSource({ interactiveMode: mode, isTerminal, plugin })
      const asking = source.acquire(listening({ reason: ahead ? 'ahead' : 'first' }).ask)
      if (typeof expected === 'string') {
        await expect(asking).rejects.toThrow(PluginNeedsTerminalError)
        await expect(asking).rejects.toThrow(`cannot prompt the user: ${expected}`)
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
  ])(
    '%s: may run ahead of the expiry %s, may prompt %s',
    (interactiveMode, mayRunAhead, mayPrompt) => {
      expect(makeSource({ interactiveMode }).lifecycle).toEqual({ mayRunAhead, mayPrompt })
    },
  )
})

describe('the plugin policy', () => {
  const pinned = {
    type: 'Allowlist',
    origin: 'kuberc',
    allowlist: [{ command: '/bin/plugin', sha256: '0'.repeat(64) }],
  } as const

  it('denies a program whose digest cannot be read', async () => {
    const sha256 = () => Promise.reject(new Error('EACCES'))
    const { source, requests } = makeSource({ policy: pinned }, { sha256 })
    await expect(source.acquire(FIRST_RUN)).rejects.toThrow(PluginDeniedError)
    expect(requests).toEqual([])
  })

  it('looks up nothing if it denies all plugins', async () => {
    const locate = () => Promise.reject(new Error('looked up'))
    const { source } = makeSource({ policy: { type: 'DenyAll', origin: 'kuberc' } }, { locate })
    const { ask, reports } = listening()
    await expect(source.acquire(ask)).rejects.toThrow(PluginDeniedError)
    expect(reports).toEqual([{ type: 'policy', verdict: 'denied', command: '/bin/plugin' }])
  })

  it('reports an allowed plugin', async () => {
    const { ask, reports } = listening()
    await makeSource().source.acquire(ask)
    expect(reports).toContainEqual({ type: 'policy', verdict: 'allowed', command: '/bin/plugin' })
  })
})

it('the login command in an error has no secret and no control character', async () => {
  const failing = async (stderrTail: string): Promise<unknown> => {
    const stdout = new Uint8Array()
    const outcome: RunOutcome = { ended: 'exited', status: 1, stdout, tookMs: 1, stderrTail }
    const args = ['--profile', 'company-prod']
    const { source } = makeSource({ args }, { run: async () => outcome })
    return source.acquire(FIRST_RUN).catch((error: unknown) => error)
  }
  const token = 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0'
  expect(await failing(`Run: corp login --profile company-prod --as=${token}`)).toMatchObject({
    loginCommand: 'corp login --profile [secret] --as=[secret]',
  })
  expect(await failing('Run: corp \u001b[31mlogin')).not.toHaveProperty('loginCommand')
})

// Not recorded on a Mac: written from errno.h of macOS (ENOEXEC, EBADARCH) and from reports of what Node makes of them.
it.each([-8, -86])('the start error %i of macOS is one of the format', async (errno) => {
  const code = `Unknown system error ${errno}`
  const ran = { tookMs: 0, stderrTail: '' }
  const outcome: RunOutcome = { ended: 'not-started', errno: code, reason: `spawn ${code}`, ...ran }
  const { source } = makeSource({}, { run: async () => outcome })
  const failed = { code: 'ERR_PLUGIN_EXEC_FORMAT' }
  await expect(source.acquire(FIRST_RUN)).rejects.toMatchObject(failed)
})

it('an unknown start error shows the error of the operating system', async () => {
  const outcome: RunOutcome = {
    ended: 'not-started',
    errno: 'EMFILE',
    reason: 'spawn EMFILE',
    tookMs: 0,
    stderrTail: '',
  }
  const { source } = makeSource({}, { run: async () => outcome })
  const message = 'credential plugin "/bin/plugin" cannot start: EMFILE (spawn EMFILE)'
  await expect(source.acquire(FIRST_RUN)).rejects.toMatchObject({
    code: 'ERR_PLUGIN_NOT_STARTED',
    message,
  })
})

it('the source does not cache: it runs the plugin every time', async () => {
  let runs = 0
  const { source } = makeSource({}, { run: async () => answered({ token: `token-${++runs}` }) })
  const tokens = [await source.acquire(FIRST_RUN), await source.acquire(FIRST_RUN)]
  expect(tokens.map(({ credential }) => credential.token?.expose())).toEqual(['token-1', 'token-2'])
})
