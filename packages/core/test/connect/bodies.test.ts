import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
let cluster: Cluster

const manifest = (name: string) => JSON.stringify({ metadata: { name } })
const json = { 'content-type': 'application/json' }

const TRANSPORTS = ['pool', 'https', 'http2'] as const

describe.each(TRANSPORTS)('a request through the %s transport', (transport) => {
  beforeEach(async () => {
    sandbox = await startSandbox()
    const exec = await sandbox.plugin({ user: 'jane' })
    cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }), transport })
  })
  afterEach(async () => {
    await cluster.close()
    await sandbox.close()
  })

  const bytes = (name: string) => new TextEncoder().encode(manifest(name))
  const streamOf = (name: string) =>
    new ReadableStream({
      start(controller) {
        controller.enqueue(bytes(name))
        controller.close()
      },
    })
  async function* generate(name: string) {
    yield bytes(name)
  }
  const bodies: [string, (name: string) => NonNullable<RequestInit['body']>][] = [
    ['text', manifest],
    ['bytes', bytes],
    ['an ArrayBuffer', (name) => bytes(name).buffer as ArrayBuffer],
    ['a DataView', (name) => new DataView(bytes(name).buffer)],
    ['a Blob', (name) => new Blob([manifest(name)])],
    ['a stream', streamOf],
    ['an async iterable', (name) => generate(name) as never],
  ]

  it.each(bodies)('sends %s as its body, and again after a 401', async (what, make) => {
    const name = `body-${bodies.findIndex(([each]) => each === what)}`
    const create = () =>
      cluster.fetch('/api/v1/namespaces', {
        method: 'POST',
        headers: json,
        body: make(name),
        duplex: 'half',
      })
    await cluster.fetch('/version')
    sandbox.revoke('jane')
    const response = await create()
    expect(response.status).toBe(201)
    expect(await response.json()).toMatchObject({ metadata: { name } })
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('sends a global Request with its own method, headers and body', async () => {
    const request = new Request(`${cluster.server}/api/v1/namespaces`, {
      method: 'POST',
      headers: { ...json, 'user-agent': 'mine' },
      body: manifest('from-request'),
    })
    expect((await cluster.fetch(request)).status).toBe(201)
  })

  it.each([
    [
      'URLSearchParams',
      new URLSearchParams({ a: 'b c' }),
      'application/x-www-form-urlencoded;charset=UTF-8',
      'a=b+c',
    ],
    ['FormData', new FormData(), /^multipart\/form-data; boundary=/, /^--/],
    ['a Blob with a type', new Blob(['x'], { type: 'text/x-thing' }), 'text/x-thing', 'x'],
    ['text', 'plain', 'text/plain;charset=UTF-8', 'plain'],
  ])('gives %s the content type of the fetch standard', async (_what, body, type, content) => {
    if (body instanceof FormData) body.set('field', 'value')
    const seen = await echo(body)
    expect(seen.type).toMatch(type)
    expect(seen.length).toBe(String(content) === '/^--/' ? seen.length : String(content).length)
  })

  /** What the server receives of a body, as it reports in its response. */
  async function echo(
    body: NonNullable<RequestInit['body']>,
  ): Promise<{ type: string; length: number }> {
    sandbox.respondWith(({ headers }) => ({
      status: 200,
      body: { type: headers['content-type'], length: Number(headers['content-length']) },
    }))
    const response = await cluster.fetch('/echo', { method: 'POST', body })
    return (await response.json()) as { type: string; length: number }
  }

  it('does not repeat a stream that is too large to buffer: the caller gets the 401', async () => {
    await cluster.fetch('/version')
    sandbox.revoke('jane')
    async function* large() {
      for (let count = 0; count < 20; count += 1) yield new Uint8Array(32 * 1024)
    }
    const body = large() as never
    const response = await cluster.fetch('/api/v1/namespaces', {
      method: 'POST',
      headers: json,
      body,
      duplex: 'half',
    })
    expect(response.status).toBe(401)
    expect(sandbox.pluginRuns).toBe(2)
    expect((await cluster.fetch('/version')).status).toBe(200)
  })

  it('rejects a body on GET before anything is sent', async () => {
    await expect(cluster.fetch('/version', { body: 'x' })).rejects.toThrow(
      'GET request cannot have a body',
    )
    expect(sandbox.requests).toHaveLength(0)
  })

  it('returns a global Response with all its parts', async () => {
    const response = await cluster.fetch('/version')
    expect(response).toBeInstanceOf(Response)
    expect(response.ok).toBe(true)
    expect(response.url).toBe(`${cluster.server}/version`)
    expect(response.headers).toBeInstanceOf(Headers)
    expect(response.headers.get('content-type')).toContain('application/json')
    const copy = response.clone()
    expect(await copy.text()).toBe(await response.text())
    expect(response.bodyUsed).toBe(true)
    await expect(response.json()).rejects.toThrow(TypeError)
    const again = await cluster.fetch('/version')
    expect(await (await again.blob()).text()).toContain('gitVersion')
    const once = await cluster.fetch('/version')
    await once.json()
    await expect(once.text()).rejects.toThrow('Body has already been read')
    const rewrapped = await cluster.fetch('/version')
    expect(await new Response(rewrapped.body, rewrapped).json()).toMatchObject({ major: '1' })
  })

  it('decompresses responses, and does not request compression with disable-compression', async () => {
    const data = { text: 'x'.repeat(200_000) }
    const body = JSON.stringify({ metadata: { name: 'large' }, data })
    await cluster.fetch('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      headers: json,
      body,
    })
    const path = '/api/v1/namespaces/default/configmaps/large'
    const packed = await cluster.fetch(path)
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(await packed.json()).toMatchObject({ data })
    const exec = await sandbox.plugin({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    await using plain = await connect({ kubeconfig, transport, disableCompression: true })
    expect((await plain.fetch(path)).headers.get('content-encoding')).toBeNull()
  })
})
