import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type CredentialEvent, connect } from 'kubecred'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { oneContext, ProgramFolder } from './scene.ts'

let sandbox: Sandbox
let program: ProgramFolder
beforeEach(async () => {
  sandbox = await startSandbox()
  program = new ProgramFolder()
  program.start()
  vi.stubEnv('HOME', program.folder)
  const { token } = sandbox.issueToken({ user: 'jane' })
  vi.stubEnv('KUBECONFIG', sandbox.writeKubeconfig({ user: { token } }))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  program[Symbol.dispose]()
  await sandbox.close()
})

/** Logs in with a vault. Returns the ids of its handlers, and the user that the server saw. */
async function logIn(vault = new Vault({ freezeLimitMs: 20_000 })) {
  const events: CredentialEvent[] = []
  const observer = (event: CredentialEvent): void => void events.push(event)
  await using cluster = await connect({ vault, observer })
  await (await cluster.fetch('/api/v1/namespaces')).text()
  const ids = vault.status()?.logins.map(({ source }) => source.name)
  const logs = events.flatMap((event) => (event.type === 'log' ? event.message : []))
  return { ids, logs, user: sandbox.requests.at(-1)?.user }
}

const FAKE = 'node_modules/@kubernetes/client-node'

describe('a vault without any handler', () => {
  it('uses the kubeconfig and the service account if the program has no client-node', async () => {
    expect(await logIn()).toMatchObject({ ids: ['kubeconfig', 'service-account'], user: 'jane' })
  })

  it('uses only client-node if the program has it', async () => {
    program.link('@kubernetes/client-node')
    expect(await logIn()).toEqual({ ids: ['client-node'], logs: [], user: 'jane' })
  })

  it('continues without client-node, with a warning, if it cannot be loaded', async () => {
    program.write(`${FAKE}/package.json`, '{"main": "index.js"}')
    program.write(`${FAKE}/index.js`, 'throw new Error("for another Node")')
    const { ids, logs, user } = await logIn()
    expect({ ids, user }).toEqual({ ids: ['client-node'], user: 'jane' })
    expect(logs).toEqual([expect.stringMatching(/for another Node; .* are read without it/)])
  })

  it('continues without client-node if that rejects what kubectl reads', async () => {
    program.link('@kubernetes/client-node')
    vi.stubEnv('KUBECONFIG', `${process.env['KUBECONFIG']}:/nowhere`)
    const { logs, user } = await logIn()
    expect(user).toBe('jane')
    expect(logs).toEqual([expect.stringContaining('no such file')])
  })

  it('uses no other login if client-node has no configuration', async () => {
    const name = `${FAKE}/index.js`
    program.write(`${FAKE}/package.json`, '{"main": "index.js"}')
    const nothing = `{ getCurrentContext() {}, getContextObject() {}, getCurrentCluster() {}, getCurrentUser() {}, loadFromDefault() {} }`
    program.write(name, `exports.KubeConfig = class { constructor() { return ${nothing} } }`)
    await expect(logIn()).rejects.toThrow(/could log in; client-node returned nothing$/)
    expect(sandbox.requests).toEqual([])
  })

  it('says why no handler could log in', async () => {
    const wrong = oneContext({ server: 'https://one' }, { token: 'x', username: 'y' })
    vi.stubEnv('KUBECONFIG', program.kubeconfig('k', wrong))
    await expect(logIn()).rejects.toThrow(
      /kubeconfig failed: invalid kubeconfig: .* has both a token .*; service-account returned nothing/,
    )
  })
})

describe('a vault with a handler', () => {
  it.each([
    ['returns nothing', () => undefined, /; mine returned nothing$/],
    ['returns it too late', () => new Promise<undefined>(() => {}), /; mine has not finished$/],
  ])('uses no other login, although it %s', async (_, handler, said) => {
    program.link('@kubernetes/client-node')
    const vault = new Vault({ freezeLimitMs: 200 }).onLogin(handler, { id: 'mine' })
    await expect(logIn(vault)).rejects.toThrow(said)
    expect(sandbox.requests).toEqual([])
  })
})
