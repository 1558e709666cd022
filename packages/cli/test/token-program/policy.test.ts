import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/command-table.ts'
import { PROGRAM } from '../spawn-program.ts'
import { AgentHome, answers, TOKEN_PROGRAM } from './agent-home.ts'

let home: AgentHome
let plugin: string

beforeEach(() => {
  home = new AgentHome()
  plugin = home.plugin('bin/good', answers())
})
afterEach(() => home.close())

function allow(...commands: string[]): string {
  const folder = join(home.env['HOME'] ?? '', '.kube')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'kuberc')
  writeFileSync(
    file,
    [
      'apiVersion: kubectl.config.k8s.io/v1beta1',
      'kind: Preference',
      'credentialPluginPolicy: Allowlist',
      'credentialPluginAllowlist:',
      ...commands.map((command) => `- command: ${command}`),
      '',
    ].join('\n'),
    { mode: 0o600 },
  )
  return file
}

describe('the plugin policy applied by kubecred-token', () => {
  it('lets an allowed plugin run', async () => {
    allow(plugin)
    expect(await home.token(['--', plugin])).toMatchObject({ status: 0, token: '1' })
  })

  it('rejects the plugin if only kubecred-token is allowed, also through the agent', async () => {
    allow(plugin)
    await home.token(['--', plugin])
    allow(TOKEN_PROGRAM)
    const denied = await home.token(['--', plugin])
    expect(denied).toMatchObject({ status: 50, out: '' })
    expect(denied.err).toContain('is not in the allowlist')
    expect(home.runs).toBe(1)
  })

  it('is rejected if the file is writable by other users', async () => {
    chmodSync(allow(plugin), 0o666)
    expect(await home.token(['--', plugin])).toMatchObject({ status: 51, out: '' })
    expect(home.runs).toBe(0)
  })

  it.runIf(process.platform === 'linux')(
    'cannot be replaced by the stanza: neither KUBERC, nor HOME, nor PATH chooses another one',
    async () => {
      allow('good')
      const evil = home.plugin('evil/good', answers('evil'))
      // The processes that the client starts have additional variables from the kubeconfig.
      const path = `${home.path('bin')}:${process.env['PATH']}`
      const sets = [
        'KUBERC=off',
        'KUBECTL_KUBERC=false',
        'HOME=/',
        `PATH=${home.path('evil')}:${path}`,
      ]
      for (const set of sets) {
        const ended = await home.token(['--', evil], { PATH: path }, [set])
        expect(ended, set).toMatchObject({ status: 50, out: '' })
      }
      // A name is looked up in the PATH of the client.
      const found = await home.token(['--', 'good'], { PATH: path }, sets.slice(3))
      expect(found).toMatchObject({ status: 0, token: '1' })
    },
  )

  it('can be switched off only by the client', async () => {
    allow('something-else')
    expect(await home.token(['--', plugin], { KUBERC: 'off' })).toMatchObject({ status: 0 })
  })
})

describe('kubecred-token does not run itself', () => {
  it('by name or by a link', async () => {
    const link = home.path('other-name')
    symlinkSync(TOKEN_PROGRAM, link)
    for (const command of [TOKEN_PROGRAM, link]) {
      const ended = await home.token(['--', command, '--', plugin])
      expect(ended).toMatchObject({ status: 2, out: '' })
      expect(ended.err).toContain('kubecred-token itself')
    }
    expect(home.runs).toBe(0)
  })

  it('through a script that starts it again: that ends after a few times', async () => {
    const loop = home.path('loop')
    writeFileSync(
      loop,
      `#!/bin/sh\necho x >> "$RUNS"\nexec "${process.execPath}" "${TOKEN_PROGRAM}" -- "$0"\n`,
    )
    chmodSync(loop, 0o755)
    const ended = await home.token(['--', loop])
    expect(ended).toMatchObject({ out: '' })
    expect(ended.status).not.toBe(0)
    expect(ended.err).toContain('starts kubecred-token again, without end')
    expect(home.runs).toBeLessThan(5)
  })

  it('through a context that uses it', async () => {
    const kubeconfig = home.path('config')
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: TOKEN_PROGRAM,
      args: ['--kubeconfig', kubeconfig],
      interactiveMode: 'Never',
    }
    writeKubeconfig(kubeconfig, { exec })
    const ended = await home.token(['--kubeconfig', kubeconfig])
    expect(ended.out).toBe('')
    expect(ended.status).not.toBe(0)
    expect(ended.err).toContain(
      'kubecred-token: the context of kubecred-token uses kubecred-token again; see',
    )
  })
})

describe('kubecred-token for a context', () => {
  it('prints its credential', async () => {
    const kubeconfig = home.path('config')
    writeKubeconfig(kubeconfig, { token: 'abc' })
    const args = ['--kubeconfig', kubeconfig, '--context', 'c']
    expect(await home.token(args)).toMatchObject({ status: 0, token: 'abc' })
    expect(await home.token([...args.slice(0, 3), 'none'])).toMatchObject({ status: 15, out: '' })
  })

  it('applies the policy to its plugin', async () => {
    const kubeconfig = home.path('config')
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: plugin,
      interactiveMode: 'Never',
    }
    writeKubeconfig(kubeconfig, { exec })
    expect(await home.token(['--kubeconfig', kubeconfig])).toMatchObject({ token: '1' })
    allow('something-else')
    const denied = await home.token(['--kubeconfig', kubeconfig], { KUBERC: 'off' })
    expect(denied).toMatchObject({ status: 50, out: '' })
  })
})

const HARMLESS = ['explain', 'completion', 'options', 'version', 'help']

it.each(COMMANDS.filter(({ name }) => !HARMLESS.includes(name)))(
  'a kubeconfig cannot make a plugin of kubecred $name',
  async ({ name }) => {
    const ended = await home.program([name], { KUBERNETES_EXEC_INFO: '{}' })
    expect(ended).toMatchObject({ status: 2, out: '' })
    expect(ended.err).toContain('cannot run as a credential plugin')
  },
)

it.each([
  [['doctor', '--kuberc', 'KUBERC'], {}],
  [['fetch', '/version'], { KUBERC: 'off' }],
  [['whoami'], { HOME: '/nonexistent' }],
  [['status', '--run'], { KUBERC: 'off' }],
])('a policy that allows kubecred does not allow what %j would run', async (args, env) => {
  const allowAll = join(home.folder, 'allow-all')
  writeFileSync(allowAll, 'apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n', {
    mode: 0o600,
  })
  const apiVersion = 'client.authentication.k8s.io/v1'
  const denied = home.path('denied')
  writeKubeconfig(denied, { exec: { apiVersion, command: plugin, interactiveMode: 'Never' } })
  const outer = home.path('outer')
  const command = [
    ...args.map((arg) => (arg === 'KUBERC' ? allowAll : arg)),
    '--kubeconfig',
    denied,
  ]
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }))
  writeKubeconfig(outer, {
    exec: { apiVersion, command: PROGRAM, args: command, env: variables, interactiveMode: 'Never' },
  })
  allow(PROGRAM)
  const ended = await home.program(['token', '--kubeconfig', outer], {})
  expect(ended.err).toContain('cannot run as a credential plugin')
  expect(home.runs).toBe(0)
})

function writeKubeconfig(file: string, user: object): void {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'k', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
  }
  writeFileSync(file, JSON.stringify(config))
}
