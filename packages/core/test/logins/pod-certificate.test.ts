import { renameSync } from 'node:fs'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { loginWithPodCertificate } from 'kubecred/logins'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CONTEXT, loggingContext, ProgramFolder } from './scene.ts'

let sandbox: Sandbox
let program: ProgramFolder
beforeEach(async () => {
  sandbox = await startSandbox()
  program = new ProgramFolder()
})
afterEach(async () => {
  program[Symbol.dispose]()
  await sandbox.close()
})

/** As the kubelet writes it: the key first, then the chain, swapped in one step. */
async function writeBundle(user: string): Promise<string> {
  const { certificate, key } = await sandbox.issueCertificate({ user })
  const path = program.write('bundle.pem', '')
  renameSync(program.write('bundle.new', key + certificate), path)
  return path
}

/** The environment of a pod of the sandbox's cluster. */
function podEnv(): Record<string, string> {
  const { hostname, port } = new URL(sandbox.url)
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
}

describe('the certificate of a pod', () => {
  it('does not apply without one', async () => {
    const { folder } = program
    const options = { path: `${folder}/none.pem`, folder, env: podEnv() }
    expect(await loginWithPodCertificate(CONTEXT, options)).toBeUndefined()
  })

  it('logs in without a token, and follows the file when it is swapped', async () => {
    program.write('ca.crt', sandbox.caPem)
    program.write('namespace', 'ns\n')
    const { folder } = program
    const path = await writeBundle('one')
    const vault = new Vault().onLogin((context) =>
      loginWithPodCertificate(context, { path, folder, env: podEnv() }),
    )
    await using cluster = await connect({ vault })
    expect(cluster.namespace).toBe('ns')
    const user = async (): Promise<string | undefined> => {
      await (await cluster.fetch('/api/v1/namespaces')).text()
      return sandbox.requests.at(-1)?.user
    }
    expect(await user()).toBe('one')
    await writeBundle('two')
    await expect.poll(user, { timeout: 15_000 }).toBe('two')
    expect(vault.status()?.logins[0]).toMatchObject({ parts: ['certificate'], priority: 30 })
  })

  it('takes a CA from another file, and fails without one', async () => {
    const { folder } = program
    const path = await writeBundle('jane')
    const caPath = program.write('elsewhere.crt', sandbox.caPem)
    const quiet = loggingContext()
    const info = await loginWithPodCertificate(quiet, { path, folder, caPath, env: podEnv() })
    expect(info?.login.connection.cluster.certificateAuthority).toMatchObject({ path: caPath })
    expect(quiet.lines).toEqual([])
    const context = loggingContext()
    await loginWithPodCertificate(context, { path, folder, env: podEnv() })
    expect(context.lines).toEqual([expect.stringContaining('the system roots are used')])
  })
})
