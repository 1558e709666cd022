import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Home } from './run/home.ts'
import { PROGRAM, Running } from './spawn-program.ts'

const hasBash = spawnSync('bash', ['--version']).status === 0
const SUBSTITUTION =
  'a shell can put the output of a command in its place (needs bash: apt-get install bash)'

let sandbox: Sandbox
let kubeconfig: string
let pipe: string

beforeAll(async () => {
  sandbox = await startSandbox()
  const { token } = sandbox.issueToken({ user: 'jane' })
  kubeconfig = sandbox.writeKubeconfig({ user: { token } })
  pipe = join(sandbox.folder, 'pipe')
  execFileSync('mkfifo', ['-m', '600', pipe])
})
afterAll(() => sandbox.close())

describe.skipIf(process.platform === 'win32')('a named pipe without a writer', () => {
  it.each([
    [['fetch', '/version', '-d', '@PIPE'], 'it is not a regular file'],
    [['proxy', '--port=0', '--secret-file', 'PIPE'], 'it is not a file'],
    [['proxy', '--port=0', '--page-secret-file', 'PIPE'], 'it is not a file'],
    [
      ['proxy', '--port=0', '--tls-cert-file', 'PIPE', '--tls-key-file', 'PIPE'],
      'it is not a certificate in PEM format',
    ],
  ])('is rejected at once by %j', async (argv, reason) => {
    await using home = new Home()
    const args = argv.map((arg) => arg.replace('PIPE', pipe))
    const { status, err } = await home.run([...args, '--kubeconfig', kubeconfig])
    expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining(reason) })
  })

  it.skipIf(!hasBash)(`is not needed: ${SUBSTITUTION}`, async () => {
    const fetch = `'${process.execPath}' '${PROGRAM}' fetch /api/v1/namespaces --kubeconfig '${kubeconfig}'`
    const body = (name: string): string => JSON.stringify({ metadata: { name } })
    const shell = new Running('bash', [
      '-c',
      `${fetch} -d @<(sleep 0.2; echo '${body('substituted')}') && echo '${body('piped')}' | ${fetch} -d @/dev/stdin`,
    ])
    expect(await shell.end()).toBe(0)
    expect(shell.out).toMatch(/"name":"substituted"[\s\S]*"name":"piped"/)
  })

  it.runIf(process.platform === 'linux')(
    'that is read does not keep a signal from ending the command',
    async () => {
      const fetch = `exec '${process.execPath}' '${PROGRAM}' fetch /version`
      const line = `${fetch} -d @/dev/fd/7 --kubeconfig '${kubeconfig}' 7<> '${pipe}'`
      const shell = new Running('sh', ['-c', line])
      // Opened once by the shell and once by the program, which then reads it.
      await vi.waitFor(() => expect(opened(shell.child.pid ?? 0)).toBe(2), { timeout: 10_000 })
      shell.child.kill('SIGTERM')
      expect(await shell.end()).toBe(143)
    },
  )
})

/** Counts how often a process has the pipe open. */
function opened(pid: number): number {
  const folder = `/proc/${pid}/fd`
  const links = readdirSync(folder).map((name) => readlinkSync(join(folder, name)))
  return links.filter((link) => link === realpathSync(pipe)).length
}
