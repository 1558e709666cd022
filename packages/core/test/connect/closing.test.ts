import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type ConnectOptions, connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { versionRegistry } from '../../src/node/process-registry.ts'

let sandbox: Sandbox

beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

const closed = { code: 'ERR_CLOSED' }
const hangSlow = ({ path }: { path: string }) =>
  path === '/slow' ? new Promise<never>(() => {}) : undefined
const arrived = (path: string) =>
  expect.poll(() => sandbox.requests.some((each) => each.path === path)).toBe(true)

async function makeKubeconfig(plugin: { delayMs?: number } = {}): Promise<string> {
  return sandbox.writeKubeconfig({
    user: { exec: await sandbox.plugin({ user: 'jane', ...plugin }) },
  })
}

const open = async (more: ConnectOptions = {}) =>
  connect({ kubeconfig: await makeKubeconfig(), ...more })

describe('close()', () => {
  it.each(['pool', 'https', 'http2'] as const)(
    'ends requests in flight (%s)',
    async (transport) => {
      const cluster = await open({ transport })
      sandbox.respondWith(hangSlow)
      const slow = cluster.fetch('/slow')
      await arrived('/slow')
      const ended = expect(slow).rejects.toMatchObject(closed)
      await cluster.close()
      await ended
    },
  )

  it('ends only its own requests, even if another connection shares the plugin, and sends nothing after', async () => {
    const kubeconfig = await makeKubeconfig({ delayMs: 300 })
    const policy = { requestLimit: 1 }
    await using stays = await connect({ kubeconfig, policy })
    const leaves = await connect({ kubeconfig, policy })
    sandbox.respondWith(hangSlow)
    const slow = stays.fetch('/slow')
    const queued = leaves.fetch('/never')
    const left = expect(queued).rejects.toMatchObject(closed)
    await leaves.close()
    await left
    await arrived('/slow')
    const ended = expect(slow).rejects.toMatchObject(closed)
    await stays.close()
    await ended
    expect(sandbox.requests.map(({ path }) => path)).not.toContain('/never')
  })

  it('rejects the caller at once during the refresh after a 401', async () => {
    const kubeconfig = await makeKubeconfig({ delayMs: 500 })
    const cluster = await connect({ kubeconfig })
    await cluster.fetch('/version')
    sandbox.respondWith(() => ({ status: 401, body: {} }))
    const refused = cluster.fetch('/api')
    await arrived('/api')
    const ended = expect(refused).rejects.toMatchObject(closed)
    await cluster.close()
    await ended
  })

  it('also ends requests on connections of a replaced pool', async () => {
    const cluster = await open({ policy: { requestLimit: 1 } })
    sandbox.respondWith(hangSlow)
    const slow = cluster.fetch('/slow')
    // Waits until the first one counts as a stream, which takes five seconds.
    expect((await cluster.fetch('/version')).status).toBe(200)
    const ended = expect(slow).rejects.toMatchObject(closed)
    await cluster.close()
    await ended
    await expect.poll(() => sandbox.connections.open).toBe(0)
  })
})

describe('a signal', () => {
  it('that is already aborted is respected at a full gate', async () => {
    await using cluster = await open({ policy: { requestLimit: 1 } })
    sandbox.respondWith(hangSlow)
    cluster.fetch('/slow').catch(() => {})
    await arrived('/slow')
    const signal = AbortSignal.abort(new Error('too late'))
    await expect(cluster.fetch('/version', { signal })).rejects.toThrow('too late')
  })

  it('that is aborted while connect() is busy ends it', async () => {
    const before = versionRegistry().keepers.size
    const ending = new AbortController()
    const connecting = open({ signal: ending.signal })
    ending.abort(new Error('changed my mind'))
    await expect(connecting).rejects.toThrow('changed my mind')
    expect(versionRegistry().keepers.size).toBe(before)
  })
})

describe('an observer', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('mine')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('mine')
      },
    ],
  ])('that %s stops nothing', async (_how, observer) => {
    const kubeconfig = await makeKubeconfig()
    // A server without a scheme causes a warning, which connect() itself reports.
    const server = sandbox.url.replace('https://', '')
    await using cluster = await connect({ kubeconfig, server, observer })
    expect(cluster.warnings).not.toEqual([])
    expect((await cluster.fetch('/version')).status).toBe(200)
  })
})

describe('a response', () => {
  it('can be inspected after it was read, and after its connection was closed', async () => {
    const cluster = await open()
    const read = await cluster.fetch('/version')
    await read.text()
    expect(inspect(read)).toContain('Response')
    expect(read.body).toBeInstanceOf(ReadableStream)
    const watch = await cluster.fetch('/api/v1/namespaces?watch=true')
    await cluster.close()
    expect(inspect(watch)).toContain('Response')
    await expect(watch.text()).rejects.toThrow()
  })

  it('of 401 whose body never ends does not delay the refresh', async () => {
    const dripping: ServerResponse[] = []
    const server: Server = createServer((_request, response) => {
      response.writeHead(401)
      response.write('x')
      dripping.push(response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await using cluster = await connect({ server: url, env: {} })
    expect((await cluster.fetch('/x')).status).toBe(401)
    for (const each of dripping) each.destroy()
    server.close()
  })
})

describe('errors by cause:', () => {
  it("a failing body of the caller is the caller's own error", async () => {
    await using cluster = await open()
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('mine')) })
    const sent = cluster.fetch('/api/v1/namespaces', {
      method: 'POST',
      body,
      duplex: 'half',
    } as RequestInit)
    await expect(sent).rejects.toThrow('mine')
  })

  it('a token with a line break is a mistake in the kubeconfig, found before anything is sent', async () => {
    const kubeconfig = sandbox.writeKubeconfig({ user: { token: 'abc\n' } })
    await expect(connect({ kubeconfig })).rejects.toMatchObject({
      code: 'ERR_KUBECONFIG_INVALID',
      message: expect.stringContaining('not allowed in an HTTP header'),
    })
  })

  it('an equal copy of the environment is the same identity', async () => {
    const kubeconfig = await makeKubeconfig()
    await using one = await connect({ kubeconfig })
    await using two = await connect({ kubeconfig, env: { ...process.env } })
    await Promise.all([one.fetch('/version'), two.fetch('/version')])
    expect(sandbox.pluginRuns).toBe(1)
  })
})
