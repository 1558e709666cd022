import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasSoftHsm, PIN, SoftHsm } from '../soft-token.ts'
import { Running, start } from '../spawn-signer.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/kubecred-pkcs11.mjs', import.meta.url))

/** The built program; bootstrap builds it before the tests run. */
const CLI = fileURLToPath(new URL('../../../cli/bin/kubecred.mjs', import.meta.url))
const hasScript = spawnSync('script', ['--version']).status === 0

let hsm: SoftHsm
let sandbox: Sandbox
beforeAll(async () => {
  if (!hasSoftHsm) return
  hsm = new SoftHsm()
  hsm.addToken('kube')
  sandbox = await startSandbox()
  const { certificate, key } = await sandbox.issueCertificate({ user: 'jane', groups: ['dev'] })
  hsm.importPair('kube', '02', certificate, key)
}, 60_000)
afterAll(async () => {
  await sandbox?.close()
  hsm?.[Symbol.dispose]()
})

function writeKubeconfig(config: Readonly<Record<string, string>>): string {
  const path = join(hsm.folder, 'kubeconfig')
  const cluster = {
    server: sandbox.url,
    'certificate-authority-data': Buffer.from(sandbox.caPem).toString('base64'),
  }
  const user = { 'auth-provider': { name: 'externalSigner', config } }
  writeFileSync(
    path,
    JSON.stringify({
      clusters: [{ name: 'k', cluster }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      'current-context': 'c',
    }),
  )
  return path
}

/** The signer is a child of this process: what it needs stands in the environment. */
async function withEnvironment<T>(env: Readonly<Record<string, string>>, work: () => Promise<T>) {
  const before = { ...process.env }
  Object.assign(process.env, env)
  try {
    return await work()
  } finally {
    for (const name of Object.keys(env)) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  }
}

describe.skipIf(!hasSoftHsm)('a cluster', () => {
  it('knows who has the key in the token, and the token is asked for its PIN once', async () => {
    const { library, environment } = hsm.spied
    const config = { pathExec: PROGRAM, pathLib: library, tokenLabel: 'kube', objectIdHex: '02' }
    await withEnvironment({ ...environment, KUBECRED_PKCS11_PIN: PIN }, async () => {
      await using cluster = await connect({ kubeconfig: writeKubeconfig(config) })
      for (let count = 0; count < 3; count += 1) {
        expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
      }
      expect(sandbox.requests.at(-1)?.user).toBe('jane')
    })
    expect(hsm.callsOf('C_Login')).toBe(1)
  })

  it.skipIf(!hasScript)('is reached by a person who types the PIN once', async () => {
    const { library, environment } = hsm.spied
    const config = { pathExec: PROGRAM, pathLib: library, tokenLabel: 'kube', objectIdHex: '02' }
    const line = `"${process.execPath}" "${CLI}" whoami --kubeconfig "${writeKubeconfig(config)}"`
    const person = new Running('script', ['-qfec', line, '/dev/null'], {
      stdio: 'pipe',
      env: { ...process.env, ...environment, SHELL: '/bin/sh' },
    })
    await person.until('out', /PIN of token "kube" \(serial \w+, slot \d+\): /)
    person.child.stdin?.write(`${PIN}\r`)
    const { status, out } = await person.end()
    expect(out).toMatch(/user:\s+jane/)
    expect(out).not.toContain(PIN)
    expect(out.match(/PIN of token/g)).toHaveLength(1)
    expect(status).toBe(0)
  })

  it('is told the reason when the PIN is wrong, without the PIN', async () => {
    const { library, environment } = hsm.spied
    const config = { pathExec: PROGRAM, pathLib: library, objectIdHex: '02', pin: '654321' }
    const failed = await withEnvironment(environment, async () => {
      await using cluster = await connect({ kubeconfig: writeKubeconfig(config) })
      return await cluster.fetch('/api/v1/namespaces').then(String, (error: Error) => error.message)
    })
    expect(failed).toContain('the PIN is wrong')
    expect(failed).not.toContain('654321')
    expect(hsm.callsOf('C_Login')).toBe(1)
  })

  it('is reached through a signer at a socket', async () => {
    const { library, environment } = hsm.spied
    const pathSocket = join(hsm.folder, 'run', 'socket')
    const args = ['serve', '--socket', pathSocket, '--lib', library, '--token-label', 'kube']
    const server = start(args, { ...environment, KUBECRED_PKCS11_PIN: PIN })
    await server.until('err', /Signing at/)
    await using cluster = await connect({ kubeconfig: writeKubeconfig({ pathSocket }) })
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    expect(sandbox.requests.at(-1)?.user).toBe('jane')
    const ended = server.end()
    server.child.kill('SIGTERM')
    expect((await ended).status).toBe(0)
  })
})
