import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, type CredentialEvent, connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
let events: CredentialEvent[]

beforeEach(async () => {
  sandbox = await startSandbox()
  events = []
})
afterEach(() => sandbox.close())

const fileOf = (name: string): string => join(sandbox.folder, name)
const observer = (event: CredentialEvent): void => void events.push(event)
const warnings = (): string[] =>
  events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))

async function userOf(cluster: Cluster): Promise<string | undefined> {
  const response = await cluster.fetch('/version')
  await response.arrayBuffer()
  return sandbox.requests.at(-1)?.user
}

/** The last warning after one more request. */
async function lastWarning(cluster: Cluster): Promise<string | undefined> {
  await userOf(cluster)
  return warnings().at(-1)
}

/** Files are looked at once a second; the request in between keeps the credential in use. */
const become = (cluster: Cluster, user: string) =>
  expect.poll(() => userOf(cluster), { timeout: 15_000, interval: 50 }).toBe(user)

const refusals = () => sandbox.requests.filter(({ status }) => status === 401)

describe('a token file', () => {
  const tokenOf = (user: string): string => sandbox.issueToken({ user }).token

  it('that is written again is noticed without a 401', async () => {
    const tokenFile = fileOf('token')
    writeFileSync(tokenFile, `${tokenOf('one')}\n`)
    await using cluster = await connect({
      kubeconfig: sandbox.writeKubeconfig({ user: { tokenFile } }),
      observer,
    })
    expect(await userOf(cluster)).toBe('one')
    writeFileSync(tokenFile, tokenOf('two'))
    await become(cluster, 'two')
    expect(refusals()).toEqual([])
  })

  it('behind symbolic links that are swapped, as Kubernetes mounts them, is noticed too', async () => {
    const write = (folder: string, user: string): void => {
      mkdirSync(fileOf(folder))
      writeFileSync(join(fileOf(folder), 'token'), tokenOf(user))
    }
    write('..first', 'one')
    symlinkSync('..first', fileOf('..data'))
    symlinkSync('..data/token', fileOf('mounted'))
    const tokenFile = fileOf('mounted')
    await using cluster = await connect({
      kubeconfig: sandbox.writeKubeconfig({ user: { tokenFile } }),
    })
    expect(await userOf(cluster)).toBe('one')
    write('..second', 'two')
    symlinkSync('..second', fileOf('..data_tmp'))
    renameSync(fileOf('..data_tmp'), fileOf('..data'))
    await become(cluster, 'two')
    expect(refusals()).toEqual([])
  })

  it('that is missing or empty for a while keeps its last good content, with a warning', async () => {
    const tokenFile = fileOf('token')
    writeFileSync(tokenFile, tokenOf('one'))
    await using cluster = await connect({
      kubeconfig: sandbox.writeKubeconfig({ user: { tokenFile } }),
      observer,
    })
    expect(await userOf(cluster)).toBe('one')
    writeFileSync(tokenFile, '')
    await expect
      .poll(() => lastWarning(cluster), { timeout: 15_000 })
      .toMatch(/it is empty; its last good content is used$/)
    rmSync(tokenFile)
    await expect
      .poll(() => lastWarning(cluster), { timeout: 15_000 })
      .toMatch(/it does not exist; its last good content is used$/)
    expect(await userOf(cluster)).toBe('one')
    writeFileSync(tokenFile, tokenOf('three'))
    await become(cluster, 'three')
    expect(refusals()).toEqual([])
  })

  it('is read again at once after a 401', async () => {
    const tokenFile = fileOf('token')
    writeFileSync(tokenFile, tokenOf('one'))
    await using cluster = await connect({
      kubeconfig: sandbox.writeKubeconfig({ user: { tokenFile } }),
    })
    expect(await userOf(cluster)).toBe('one')
    sandbox.revoke('one')
    writeFileSync(tokenFile, tokenOf('two'))
    expect(await userOf(cluster)).toBe('two')
  })
})

describe('certificate files', () => {
  it('are noticed as a pair: half of a new one keeps the last good pair', async () => {
    const write = (
      pair: { certificate: string; key: string },
      which: ('certificate' | 'key')[],
    ): void => {
      for (const each of which) writeFileSync(fileOf(each), pair[each])
    }
    write(await sandbox.issueCertificate({ user: 'one' }), ['certificate', 'key'])
    const user = { certificateFile: fileOf('certificate'), keyFile: fileOf('key') }
    await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user }), observer })
    expect(await userOf(cluster)).toBe('one')
    const next = await sandbox.issueCertificate({ user: 'two' })
    write(next, ['certificate'])
    await expect
      .poll(() => lastWarning(cluster), { timeout: 15_000 })
      .toMatch(/the key belongs to another certificate; its last good content is used$/)
    expect(await userOf(cluster)).toBe('one')
    write(next, ['key'])
    await become(cluster, 'two')
  })
})

describe('a CA file', () => {
  it('that is written again is trusted by new connections, without a restart', async () => {
    const tokenFile = fileOf('token')
    const certificateAuthority = fileOf('ca.pem')
    writeFileSync(tokenFile, sandbox.issueToken({ user: 'one' }).token)
    writeFileSync(certificateAuthority, sandbox.caPem)
    const kubeconfig = sandbox.writeKubeconfig({ user: { tokenFile } })
    await using cluster = await connect({ kubeconfig, certificateAuthority, observer })
    expect(await userOf(cluster)).toBe('one')

    await using successor = await startSandbox()
    const server = successor.url
    await using moved = await connect({ kubeconfig, certificateAuthority, server, observer })
    await expect(moved.fetch('/version')).rejects.toMatchObject({ code: 'ERR_SERVER_UNTRUSTED' })
    writeFileSync(certificateAuthority, 'half written')
    await expect
      .poll(warnings, { timeout: 15_000 })
      .toContainEqual(expect.stringContaining('its last good content is used'))
    writeFileSync(certificateAuthority, successor.caPem)
    writeFileSync(tokenFile, successor.issueToken({ user: 'two' }).token)
    await expect
      .poll(
        () =>
          moved.fetch('/api/v1/namespaces').then(
            ({ status }) => status,
            ({ code }) => code,
          ),
        { timeout: 15_000 },
      )
      .toBe(200)
  })
})
