import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type ConnectOptions, connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox

beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

async function connectWithToken(policy = {}, transport: ConnectOptions['transport'] = 'pool') {
  const { token } = sandbox.issueToken({ user: 'jane' })
  return connect({ kubeconfig: sandbox.writeKubeconfig({ user: { token } }), policy, transport })
}

const WATCH = '/api/v1/namespaces/default/configmaps?watch=true'

async function readEvent(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<{ type: string; object: { metadata: { name: string } } }> {
  const { value } = await reader.read()
  return JSON.parse(new TextDecoder().decode(value))
}

describe.each(['pool', 'http2'] as const)('a watch (%s)', (transport) => {
  it('delivers events as they happen', async () => {
    await using cluster = await connectWithToken({}, transport)
    const watch = await cluster.fetch(WATCH)
    const reader = (watch.body as ReadableStream<Uint8Array>).getReader()
    for (const name of ['one', 'two']) {
      await cluster.fetch('/api/v1/namespaces/default/configmaps', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ metadata: { name } }),
      })
      expect(await readEvent(reader)).toMatchObject({
        type: 'ADDED',
        object: { metadata: { name } },
      })
    }
    await reader.cancel()
  })

  it('ends when its signal is aborted', async () => {
    await using cluster = await connectWithToken({}, transport)
    const leaving = new AbortController()
    const watch = await cluster.fetch(WATCH, { signal: leaving.signal })
    const read = watch.text()
    leaving.abort(new Error('enough'))
    await expect(read).rejects.toThrow('enough')
  })

  it('does not block requests: nine finish next to eight watches, however few connections short requests have', async () => {
    await using cluster = await connectWithToken({ requestLimit: 1 }, transport)
    const leaving = new AbortController()
    const watches = await Promise.all(
      Array.from({ length: 8 }, () => cluster.fetch(WATCH, { signal: leaving.signal })),
    )
    const statuses = await Promise.all(
      Array.from({ length: 9 }, async () => {
        const response = await cluster.fetch('/version')
        await response.arrayBuffer()
        return response.status
      }),
    )
    expect(statuses).toEqual(Array(9).fill(200))
    expect(watches.every((watch) => watch.status === 200)).toBe(true)
    leaving.abort()
  })

  it('is a clear error beyond the limit, and closing one makes room', async () => {
    await using cluster = await connectWithToken({ streamLimit: 2 }, transport)
    const first = new AbortController()
    const others = new AbortController()
    const open = await cluster.fetch(WATCH, { signal: first.signal })
    await cluster.fetch(WATCH, { signal: others.signal })
    await expect(cluster.fetch(WATCH)).rejects.toMatchObject({ code: 'ERR_TOO_MANY_STREAMS' })
    first.abort()
    await expect(open.text()).rejects.toThrow()
    const again = await cluster.fetch(WATCH, { signal: others.signal })
    expect(again.status).toBe(200)
    others.abort()
  })

  it('survives the rotation of the certificate it began with, while new requests use the new one', async () => {
    const exec = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    await using cluster = await connect({ kubeconfig, transport })
    const watch = await cluster.fetch(WATCH)
    const reader = (watch.body as ReadableStream<Uint8Array>).getReader()
    sandbox.revokeCertificates('jane')
    const body = JSON.stringify({ metadata: { name: 'after' } })
    const headers = { 'content-type': 'application/json' }
    const created = await cluster.fetch('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      headers,
      body,
    })
    expect(created.status).toBe(201)
    expect(sandbox.pluginRuns).toBe(2)
    expect(await readEvent(reader)).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name: 'after' } },
    })
    await reader.cancel()
  })
})

describe.each(['pool', 'https', 'http2'] as const)('unread responses (%s)', (transport) => {
  it('block nothing: the limits count what is in flight, not what is unread', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    const policy = { requestLimit: 2, streamLimit: 2 }
    await using cluster = await connect({ kubeconfig, policy, transport })
    for (let count = 0; count < 50; count += 1) {
      expect((await cluster.fetch('/version')).status).toBe(200)
    }
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => (await cluster.fetch('/version')).status),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
  })
})

describe('connections', () => {
  it('are kept and used again', async () => {
    await using cluster = await connectWithToken()
    for (let count = 0; count < 20; count += 1)
      await (await cluster.fetch('/version')).arrayBuffer()
    // undici waits one turn of the loop before it uses a connection again, and opens a second one meanwhile.
    expect(sandbox.connections.opened).toBeLessThanOrEqual(2)
  })

  it('are about as many as the limit, not as many as there are requests', async () => {
    await using cluster = await connectWithToken({ requestLimit: 4 })
    await Promise.all(
      Array.from({ length: 100 }, async () => (await cluster.fetch('/version')).arrayBuffer()),
    )
    expect(sandbox.connections.opened).toBeLessThanOrEqual(8)
  })

  it('are closed with the cluster', async () => {
    const cluster = await connectWithToken()
    await (await cluster.fetch('/version')).arrayBuffer()
    await cluster.close()
    await expect.poll(() => sandbox.connections.open).toBe(0)
    await expect(cluster.fetch('/version')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })
})
