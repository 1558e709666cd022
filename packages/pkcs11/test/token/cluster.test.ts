import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  hasScript,
  onTerminal,
  RunningProgram,
} from '../../../core/test/fixtures/running-program.ts'
import { hasSoftHsm, PIN, SoftHsm } from '../soft-token.ts'
import { start } from '../spawn-signer.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/kubecred-pkcs11.mjs', import.meta.url))

/** The built program; bootstrap builds it before the tests run. */
const CLI = fileURLToPath(new URL('../../../cli/bin/kubecred.cjs', import.meta.url))

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
  const user = { 'auth-provider': { name: 'externalSigner', config } }
  return sandbox.writeKubeconfig({ user })
}

/** Runs `work` with variables set: the signer is a child of this process and inherits them. */
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
  it('authenticates the user of the key in the token, and the PIN is used once', async () => {
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

  it.skipIf(!hasScript)('is reached by typing the PIN once', async () => {
    const { library, environment } = hsm.spied
    const config = { pathExec: PROGRAM, pathLib: library, tokenLabel: 'kube', objectIdHex: '02' }
    const line = `"${process.execPath}" "${CLI}" whoami --kubeconfig "${writeKubeconfig(config)}"`
    const person = new RunningProgram(...onTerminal(line), {
      env: { ...process.env, ...environment, SHELL: '/bin/sh' },
    })
    await person.until('out', /PIN of token "kube" \(serial \w+, slot \d+\): /)
    person.child.stdin?.write(`${PIN}\r`)
    const { status, out } = await person.ended()
    expect(out).toMatch(/user:\s+jane/)
    expect(out).not.toContain(PIN)
    expect(out.match(/PIN of token/g)).toHaveLength(1)
    expect(status).toBe(0)
  })

  it('rejects requests with the reason if the PIN is wrong, without revealing the PIN', async () => {
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
    const ended = server.ended()
    server.child.kill('SIGTERM')
    expect((await ended).status).toBe(0)
  })
})
