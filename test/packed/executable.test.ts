import { execFileSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describePrograms } from './describe-programs.ts'
import { Installed } from './installed.ts'

const isLinux = process.platform === 'linux'
if (isLinux) describePrograms('as one executable', Installed.asExecutable, { hasOnlyCli: true })

describe.skipIf(!isLinux)('the single executable', () => {
  let installed: Installed
  const inFolder = (name: string): string => join(installed.programs, name)
  beforeAll(async () => {
    installed = await Installed.asExecutable()
  })
  afterAll(() => installed?.[Symbol.dispose]())

  it('comes in an archive, with the licenses of everything inside', () => {
    const archive = readdirSync(installed.programs).find((name) => name.endsWith('.tar.gz')) ?? ''
    const listed = execFileSync('tar', ['-tzf', inFolder(archive)], { encoding: 'utf8' })
    const names = ['LICENSES.txt', 'kubecred', 'kubecred-token', 'kubecred.1']
    expect(listed.trim().split('\n').sort()).toEqual(names)
    const licenses = readFileSync(inFolder('LICENSES.txt'), 'utf8')
    for (const name of ['kubecred', 'Node.js', 'undici', 'yaml', 'oauth4webapi', 'prom-client']) {
      expect(licenses).toMatch(new RegExp(`^${name}`, 'm'))
    }
  })

  it('starts the agent from a file that is named kubecred-token', async ({ onTestFinished }) => {
    const renamed = join(installed.makeFolder(), 'kubecred-token')
    copyFileSync(inFolder('kubecred'), renamed)
    const runtime = { XDG_RUNTIME_DIR: installed.makeFolder() }
    onTestFinished(async () => void (await installed.run('kubecred', ['agent', 'stop'], runtime)))
    const info = { kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1' }
    const answer = JSON.stringify({ ...info, status: { token: 'from-the-plugin' } })
    const { status, out, err } = await installed.run(
      renamed,
      ['--', 'sh', '-c', `echo '${answer}'`],
      {
        ...runtime,
        KUBERNETES_EXEC_INFO: JSON.stringify({ ...info, spec: { interactive: false } }),
      },
    )
    expect({ status, err }).toEqual({ status: 0, err: '' })
    expect(out).toContain('from-the-plugin')
    const shown = await installed.run('kubecred', ['agent', 'status', '-o', 'json'], runtime)
    expect(JSON.parse(shown.out)).toMatchObject({ pid: expect.any(Number) })
  })

  it('wraps a plugin with the link beside it', async () => {
    const { err } = await wrapWith('kubecred')
    expect(err).toContain(`+ ${inFolder('kubecred-token')} -- aws eks get-token`)
  })

  it('says what to do if the link is missing', async () => {
    const alone = join(installed.makeFolder(), 'kubecred')
    copyFileSync(inFolder('kubecred'), alone)
    const { status, err } = await wrapWith(alone)
    expect({ status, err }).toEqual({
      status: 2,
      err: expect.stringContaining(`put a link with that name beside ${alone}`),
    })
  })

  /** Runs `kubecred wrap --yes` in a new home. */
  async function wrapWith(program: string): ReturnType<Installed['run']> {
    const kubeconfig = join(installed.makeFolder(), 'config')
    writeFileSync(kubeconfig, KUBECONFIG)
    return installed.run(program, ['wrap', '--yes', '--kubeconfig', kubeconfig])
  }
})

const KUBECONFIG = JSON.stringify({
  'current-context': 'c',
  contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:9' } }],
  users: [
    {
      name: 'u',
      user: {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: 'aws',
          args: ['eks', 'get-token'],
          interactiveMode: 'Never',
        },
      },
    },
  ],
})
