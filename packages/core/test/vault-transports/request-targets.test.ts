import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect } from 'kubecred'
import { openHttp2 } from 'kubecred/http2'
import { createDispatcher, createInterceptor } from 'kubecred/undici'
import { Vault } from 'kubecred/vault'
import { openWebSocket } from 'kubecred/ws'
import * as undici from 'undici'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
let cluster: Cluster
beforeEach(async () => {
  sandbox = await startSandbox()
  sandbox.respondWith(({ path }) => ({ status: 200, body: path }))
  const token = sandbox.issueToken({ user: 'jane' }).token
  const vault = new Vault()
  const server = `${sandbox.url}/clusters/a`
  vault.onLogin(() => ({ server, caData: sandbox.caPem, token }), { id: 'behind-a-path' })
  cluster = await connect({ vault })
})
afterEach(async () => {
  await cluster.close()
  await sandbox.close()
})

const paths = (): string[] => sandbox.requests.map(({ path }) => path)
const foreign = { code: 'ERR_FOREIGN_ORIGIN' }

describe('on a vault, a path is appended to that of the login, and a URL is used as it is', () => {
  it('with HTTP/2', async () => {
    const client = openHttp2(cluster)
    const { host } = new URL(sandbox.url)
    const ask = async (headers: Record<string, string>): Promise<void> => {
      const { stream } = await client.request({ ':path': '/version', ...headers })
      stream.resume()
    }
    await ask({})
    await ask({ ':authority': host })
    await ask({ ':scheme': 'https', host })
    expect(paths()).toEqual(Array(3).fill('/clusters/a/version'))
    for (const headers of [
      { ':authority': 'evil.example' },
      { ':authority': host, host: 'evil.example' },
      { ':authority': 'evil.example', host },
      { ':authority': 'no host' },
      { ':scheme': 'http' },
      { ':path': '//evil.example/version' },
      { ':path': 'https://evil.example/version' },
      { ':path': `${sandbox.url}/version`, ':authority': 'evil.example' },
    ]) {
      await expect(ask(headers)).rejects.toMatchObject(foreign)
    }
    expect(sandbox.requests).toHaveLength(3)
  })

  it('undici', async () => {
    const dispatcher = createDispatcher(cluster, undici)
    const ask = async (origin: string | undefined, path: string): Promise<void> => {
      const request = { path, method: 'GET', ...(origin && { origin }) }
      await (await dispatcher.request(request as never)).body.dump()
    }
    await ask(undefined, '/version')
    await ask(sandbox.url, '/clusters/a/version')
    expect(paths()).toEqual(Array(2).fill('/clusters/a/version'))
    for (const [origin, path] of [
      ['https://evil.example', '/version'],
      [sandbox.url, 'https://evil.example/version'],
      ['https://evil.example', `${sandbox.url}/version`],
      [undefined, '//evil.example/version'],
      [sandbox.url.replace('https:', 'http:'), '/version'],
      [sandbox.url.replace('//', '//user:password@'), '/version'],
    ] as const) {
      await expect(ask(origin, path)).rejects.toMatchObject(foreign)
    }
    expect(sandbox.requests).toHaveLength(2)
  })

  it('an interceptor of undici', async () => {
    const agent = new undici.Agent({ connect: { ca: sandbox.caPem } })
    const dispatcher = agent.compose(createInterceptor(cluster))
    const ask = async (origin: string): Promise<void> => {
      await (await dispatcher.request({ origin, path: '/version', method: 'GET' })).body.dump()
    }
    await ask(sandbox.url)
    await expect(ask('https://evil.example')).rejects.toMatchObject(foreign)
    expect(paths()).toEqual(['/version'])
    await agent.close()
  })

  it('a WebSocket', async () => {
    const refused = { code: 'ERR_UPGRADE_REFUSED' }
    await expect(openWebSocket(cluster, '/version')).rejects.toMatchObject(refused)
    const url = `${sandbox.url.replace('https:', 'wss:')}/clusters/a/version`
    await expect(openWebSocket(cluster, url)).rejects.toMatchObject(refused)
    expect(paths()).toEqual(Array(2).fill('/clusters/a/version'))
    for (const place of ['wss://evil.example/version', '//evil.example/version']) {
      await expect(openWebSocket(cluster, place)).rejects.toMatchObject(foreign)
    }
    expect(sandbox.requests).toHaveLength(2)
  })
})
