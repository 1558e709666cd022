import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, type ConnectPolicy, connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

const transports = ['pool', 'https'] as const

/** A certificate plugin; the server refuses the first certificate when `rotate` is called. */
async function withCertificate(
  transport: 'pool' | 'https' | 'http2',
  policy: ConnectPolicy = {},
): Promise<Cluster> {
  const exec = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
  return connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }), transport, policy })
}

async function watchNamespaces(cluster: Cluster): Promise<ReadableStreamDefaultReader<string>> {
  const { body } = await cluster.fetch('/api/v1/namespaces?watch=true')
  if (body === null) throw new Error('a watch has a body')
  return body.pipeThrough(new TextDecoderStream()).getReader()
}

/** Reads events until one is about this object. */
async function until(reader: ReadableStreamDefaultReader<string>, name: string): Promise<void> {
  for (let seen = ''; !seen.includes(`"name":"${name}"`); ) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the watch ended before ${name}`)
    seen += value
  }
}

async function create(cluster: Cluster, name: string): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const response = await cluster.fetch('/api/v1/namespaces', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  expect(response.status).toBe(201)
  await response.text()
}

const connectionOf = (path: RegExp): number | undefined =>
  sandbox.requests.findLast((request) => path.test(request.path))?.connection

describe.each([...transports, 'http2'] as const)('a new certificate (%s)', (transport) => {
  it('is used by new requests at once; a watch continues, then its connection closes', async () => {
    await using cluster = await withCertificate(transport)
    const reader = await watchNamespaces(cluster)
    await until(reader, 'default')
    const watching = connectionOf(/watch=true/)
    sandbox.revokeCertificates('jane')
    await create(cluster, 'after')
    expect(sandbox.pluginRuns).toBe(2)
    await until(reader, 'after')
    expect(connectionOf(/namespaces$/)).not.toBe(watching)
    const open = sandbox.connections.open
    await reader.cancel()
    await expect.poll(() => sandbox.connections.open).toBeLessThan(open)
  })

  it('ends requests in flight at once with drainLimitMs 0, with an error that says so', async () => {
    await using cluster = await withCertificate(transport, { drainLimitMs: 0 })
    const reader = await watchNamespaces(cluster)
    await until(reader, 'default')
    sandbox.revokeCertificates('jane')
    await create(cluster, 'after')
    const failure = await readToFailure(reader)
    if (transport === 'pool') expect(failure).toMatchObject({ code: 'ERR_CONNECTION_RETIRED' })
    else expect(failure).toBeInstanceOf(Error)
    await create(cluster, 'later')
  })

  it('lets them continue until drainLimitMs has passed', async () => {
    await using cluster = await withCertificate(transport, { drainLimitMs: 400 })
    const reader = await watchNamespaces(cluster)
    await until(reader, 'default')
    sandbox.revokeCertificates('jane')
    await create(cluster, 'after')
    await until(reader, 'after')
    expect(await readToFailure(reader)).toBeInstanceOf(Error)
  })
})

async function readToFailure(reader: ReadableStreamDefaultReader<string>): Promise<unknown> {
  try {
    while (!(await reader.read()).done);
    return 'a clean end'
  } catch (error) {
    return error
  }
}

describe('a new token', () => {
  it('closes nothing: requests after it use the connections from before', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
    await create(cluster, 'one')
    sandbox.revoke('jane')
    // The retry may find the connection of the refusal still busy and open a second one.
    await create(cluster, 'two')
    const known = new Set(sandbox.requests.map(({ connection }) => connection))
    await create(cluster, 'three')
    expect(sandbox.pluginRuns).toBe(2)
    expect(known).toContain(connectionOf(/namespaces$/))
    const { opened, open } = sandbox.connections
    expect(open).toBe(opened)
  })
})

describe.each(transports)('a new CA (%s)', (transport) => {
  it('is used by new connections; a watch continues, and old connections close when they are done', async () => {
    const certificateAuthority = join(sandbox.folder, 'ca.pem')
    writeFileSync(certificateAuthority, sandbox.caPem)
    const exec = await sandbox.plugin({ user: 'jane' })
    await using cluster = await connect({
      kubeconfig: sandbox.writeKubeconfig({ user: { exec } }),
      certificateAuthority,
      transport,
    })
    const reader = await watchNamespaces(cluster)
    await until(reader, 'default')
    await create(cluster, 'before')
    const before = new Set(sandbox.requests.map(({ connection }) => connection))
    writeFileSync(certificateAuthority, await sandbox.rotateServerAuthority())
    // The idle connection of before closes when the file was noticed; the watch's stays.
    await expect.poll(() => sandbox.connections.open, { timeout: 15_000 }).toBe(1)
    await create(cluster, 'after')
    expect(before).not.toContain(connectionOf(/namespaces$/))
    await until(reader, 'after')
    expect(sandbox.pluginRuns).toBe(1)
  })
})

it('connect() rejects a drainLimitMs that is not a number of milliseconds', async () => {
  for (const drainLimitMs of [-1, 0.5, Number.POSITIVE_INFINITY, 2 ** 31]) {
    await expect(connect({ policy: { drainLimitMs } })).rejects.toThrow(/drainLimitMs must be/)
  }
})
