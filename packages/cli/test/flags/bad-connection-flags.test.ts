import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runFake } from '../run-fake.ts'

let sandbox: Sandbox
let kubeconfig: string
let folder: string
beforeAll(async () => {
  sandbox = await startSandbox()
  const { token } = sandbox.issueToken({ user: 'jane' })
  kubeconfig = sandbox.writeKubeconfig({ user: { token } })
  folder = mkdtempSync(join(tmpdir(), 'kubecred-flags-'))
  writeFileSync(join(folder, 'garbage'), 'garbage')
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await sandbox.close()
})

const at = (name: string): string => join(folder, name)
const fetchWith = (argv: readonly string[]) =>
  runFake(['fetch', '/version', '--kubeconfig', kubeconfig, ...argv])

describe('an error names the bad flag, and no kubeconfig entry:', () => {
  it.each<[string, () => string[]]>([
    ['--context', () => ['--context', 'nope']],
    ['--cluster', () => ['--cluster', 'nope']],
    ['--user', () => ['--user', 'nope']],
    ['--namespace', () => ['--namespace', 'A b']],
    ['--server', () => ['--server', 'ftp://host']],
    ['--server', () => ['--server', 'https://user:hunter2@host']],
    ['--server', () => ['--server', 'https://a b']],
    ['--tls-server-name', () => ['--tls-server-name', 'a b']],
    ['--certificate-authority', () => ['--certificate-authority', at('nope')]],
    ['--certificate-authority', () => ['--certificate-authority', folder]],
    [
      '--insecure-skip-tls-verify',
      () => ['--insecure-skip-tls-verify', '--certificate-authority', at('garbage')],
    ],
    ['--proxy-url', () => ['--proxy-url', 'ftp://host']],
    ['--proxy-url', () => ['--proxy-url', 'host:3128']],
    ['--token', () => ['--token', 'hunter2\nx']],
    ['--token', () => ['--token', 'hunter2', '--username', 'jane']],
    ['--token', () => ['--token', 'hunter2', '--password', 'hunter2']],
    ['--username', () => ['--username', 'a:b', '--password', 'hunter2']],
    ['--client-certificate', () => ['--client-certificate', at('garbage')]],
    [
      '--client-certificate',
      () => ['--client-certificate', at('nope'), '--client-key', at('garbage')],
    ],
    ['--client-key', () => ['--client-certificate', at('garbage'), '--client-key', at('nope')]],
    ['--as', () => ['--as', 'a\nb']],
    ['--as-uid', () => ['--as-uid', '1']],
    ['--as-group', () => ['--as-group', 'g']],
    ['--as-group', () => ['--as', 'u', '--as-group', 'a\nb']],
    ['--as-user-extra', () => ['--as-user-extra', 'k=v']],
    ['--as-user-extra', () => ['--as', 'u', '--as-user-extra', 'k=a\nb']],
    ['--as-user-extra', () => ['--as', 'u', '--as-user-extra', 'k']],
  ])('%s %#', async (flag, argv) => {
    const { status, err } = await fetchWith(argv())
    expect(status).toBeGreaterThan(1)
    expect(err).toMatch(new RegExp(`^kubecred: .*flag ${flag}\\b`))
    expect(err).not.toMatch(/invalid kubeconfig|of user|of cluster|option |hunter2/)
  })

  it.each([
    [['--password', 'hunter2'], /Warning: Flag --password is not used/],
    [['--client-key', () => at('garbage')], /Warning: Flag --client-key is not used/],
  ])('%j is not used', async (argv, warning) => {
    const { err } = await fetchWith(argv.map((word) => (typeof word === 'string' ? word : word())))
    expect(err).toMatch(warning)
  })

  it('an error names the kubeconfig entry if the value is from there', async () => {
    const path = at('config')
    const config = {
      clusters: [{ name: 'k', cluster: { server: 'ftp://host' } }],
      contexts: [{ name: 'c', context: { cluster: 'k' } }],
      'current-context': 'c',
    }
    writeFileSync(path, JSON.stringify(config))
    const { err } = await runFake(['whoami', '--kubeconfig', path])
    expect(err).toContain('invalid kubeconfig: cluster "k" in')
  })

  it('doctor names the flag too', async () => {
    const { out } = await runFake(['doctor', '--kubeconfig', kubeconfig, '--server', 'ftp://host'])
    expect(out).toMatch(/flag --server is not a valid http or https URL/)
  })
})
