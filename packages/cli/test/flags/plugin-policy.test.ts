import { describe, expect, it } from 'vitest'
import { parseCommandLine } from '../../src/flags/parse-command-line.ts'
import { pluginPolicy } from '../../src/flags/plugin-policy.ts'

function read(argv: readonly string[], env: Record<string, string>, isAttended = false) {
  const { flags } = parseCommandLine(['whoami', ...argv], ['whoami'])
  return pluginPolicy(flags, { env, isTerminal: { stdout: false, stderr: isAttended } })
}

const VARIABLES = {
  KUBECRED_PLUGIN_TIMEOUT: '2m',
  KUBECRED_REFRESH_ON: '403',
  KUBECRED_PLUGIN_ENV: 'PATH',
}
const both = (limitMs: number) => ({ pluginTimeoutMs: limitMs, interactiveTimeoutMs: limitMs })

describe('the plugin settings from flags and variables', () => {
  it('are empty if neither is given: the library has defaults', () => {
    expect(read([], {})).toEqual({})
  })

  it('allow a non-interactive plugin ten minutes at a terminal', () => {
    expect(read([], {}, true)).toEqual({ pluginTimeoutMs: 600_000 })
  })

  it.each([
    ['90', 90_000],
    ['1m30s', 90_000],
    ['1.5ms', 2],
    ['0', 2_147_483_647],
    ['9999h', 2_147_483_647],
  ])('apply a time limit of %s to every plugin, also at a terminal', (text, limitMs) => {
    expect(read(['--plugin-timeout', text], {}, true)).toEqual(both(limitMs))
    expect(read([], { KUBECRED_PLUGIN_TIMEOUT: text })).toEqual(both(limitMs))
  })

  it('prefer each flag to its variable', () => {
    const argv = ['--plugin-timeout=1s', '--refresh-on=401,403', '--plugin-env=A, B']
    const expected = { ...both(1000), refreshOn: [401, 403], pluginEnv: ['A', 'B'] }
    expect(read(argv, VARIABLES)).toEqual(expected)
    expect(read([], VARIABLES)).toEqual({
      ...both(120_000),
      refreshOn: [403],
      pluginEnv: ['PATH'],
    })
  })

  it('treat an empty value as not given', () => {
    const empty = Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, '']))
    expect(read(['--plugin-timeout='], empty)).toEqual({})
  })

  it('ignore variables in a credential plugin, whose environment a kubeconfig can set', () => {
    const env = { ...VARIABLES, KUBERNETES_EXEC_INFO: '' }
    expect(read([], env)).toEqual({})
    expect(read(['--plugin-timeout=1s'], env)).toEqual(both(1000))
  })
})
