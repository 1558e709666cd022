import http from 'node:http'
import https from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import axios from 'axios'
import { got } from 'got'
import { type Cluster, connect } from 'kubecred'
import { createAgent } from 'kubecred/https'
import fetch from 'node-fetch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startPlainServer } from './plain-server.ts'
import { readText, request } from './request.ts'

let sandbox: Sandbox
let cluster: Cluster

beforeEach(async () => {
  sandbox = await startSandbox()
  const exec = await sandbox.plugin({ user: 'jane' })
  cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
})
afterEach(async () => {
  await cluster.close()
  await sandbox.close()
})

const never = () => new Promise<undefined>(() => {})

describe('a timeout of the client', () => {
  it('set on an https.request is emitted', async () => {
    sandbox.respondWith(never)
    const event = new Promise<string>((resolve) => {
      const sent = https.get(`${cluster.server}/version`, { agent: createAgent(cluster) })
      sent.on('error', () => {})
      sent.setTimeout(50, () => {
        resolve('timeout')
        sent.destroy()
      })
    })
    expect(await event).toBe('timeout')
  })

  it('as an option of https.request is emitted', async () => {
    sandbox.respondWith(never)
    const event = new Promise<string>((resolve) => {
      const options = { agent: createAgent(cluster), timeout: 50 }
      const sent = https.get(`${cluster.server}/version`, options)
      sent.on('error', () => {})
      sent.once('timeout', () => {
        resolve('timeout')
        sent.destroy()
      })
    })
    expect(await event).toBe('timeout')
  })

  it('of axios ends the request', async () => {
    sandbox.respondWith(never)
    const sent = axios.get('/version', {
      baseURL: cluster.server,
      httpsAgent: createAgent(cluster),
      timeout: 50,
    })
    await expect(sent).rejects.toMatchObject({ code: 'ECONNABORTED' })
  })

  it.each(['request', 'response', 'socket'] as const)(
    'of got ends the request: %s',
    async (limit) => {
      sandbox.respondWith(never)
      const sent = got(`${cluster.server}/version`, {
        agent: { https: createAgent(cluster) },
        timeout: { [limit]: 50 },
        retry: { limit: 0 },
      })
      await expect(sent).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    },
  )

  it('of got for a phase that the bridge does not have is ignored: lookup, connect, secureConnect, send', async () => {
    const response = await got(`${cluster.server}/version`, {
      agent: { https: createAgent(cluster) },
      timeout: { lookup: 1, connect: 1, secureConnect: 1, send: 10_000 },
      retry: { limit: 0 },
    })
    expect(response.statusCode).toBe(200)
    expect(response.timings.phases.total).toBeGreaterThan(0)
  })

  it('of ws ends the handshake', async () => {
    sandbox.respondWith(never)
    const url = `${cluster.server.replace('https', 'wss')}/version`
    const socket = new WebSocket(url, { agent: createAgent(cluster), handshakeTimeout: 50 })
    const error = await new Promise<Error>((resolve) => socket.once('error', resolve))
    expect(error.message).toBe('Opening handshake has timed out')
  })
})

describe('a redirect to another server', () => {
  it('over plain HTTP is followed by axios and got without our agent and credential', async () => {
    const heard: (string | undefined)[] = []
    const other = http.createServer(({ headers, url }, response) => {
      heard.push(url, headers.authorization)
      response.end('other')
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const url = `${cluster.server}/version`
    for (const options of [{}, { direct: true }]) {
      const agent = createAgent(cluster, options)
      sandbox.respondWith(undefined)
      await request(cluster.server, agent, { path: '/version' }).then(readText)
      const Location = `http://127.0.0.1:${port}/stolen`
      sandbox.respondWith(() => ({ status: 302, headers: { Location } }))
      heard.length = 0
      await axios.get(url, { httpsAgent: agent, proxy: false })
      await got(url, { agent: { https: agent }, retry: { limit: 0 } })
      expect(heard).toEqual(['/stolen', undefined, '/stolen', undefined])
      await expect(fetch(url, { agent })).rejects.toMatchObject({ code: 'ERR_INVALID_PROTOCOL' })
      const stay = { maxRedirects: 0, validateStatus: null }
      const kept = await axios.get(url, { httpsAgent: agent, proxy: false, ...stay })
      expect(kept.status).toBe(302)
      const same = await got(url, { agent: { https: agent }, followRedirect: false })
      expect(same.statusCode).toBe(302)
      expect(heard).toHaveLength(4)
    }
    other.close()
  })

  it.each([301, 302, 307, 308])(
    'of status %i is never followed with our credential',
    async (status) => {
      const heard: string[] = []
      const thief = createServer((socket) =>
        socket.on('data', (bytes) => heard.push(bytes.toString('latin1'))).on('error', () => {}),
      )
      await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve))
      const { port } = thief.address() as AddressInfo
      const Location = `https://127.0.0.1:${port}/version`
      const url = `${cluster.server}/version`
      for (const options of [{}, { direct: true }]) {
        const agent = createAgent(cluster, options)
        sandbox.respondWith(undefined)
        await request(cluster.server, agent, { path: '/version' }).then(readText)
        sandbox.respondWith(() => ({ status, headers: { Location } }))
        const follow = {
          axios: () => axios.get(url, { httpsAgent: agent, proxy: false }),
          got: () => got(url, { agent: { https: agent }, retry: { limit: 0 } }),
          'node-fetch': () => fetch(url, { agent }),
        }
        for (const [client, send] of Object.entries(follow)) {
          const failure: unknown = await send().then(
            () => client,
            (error: unknown) => error,
          )
          const reason = `127.0.0.1:${port} is not this cluster`
          expect((failure as Error).message, client).toContain(reason)
        }
      }
      expect(heard).toEqual([])
      thief.close()
    },
  )
})

describe('an agent of a cluster', () => {
  it.each([
    ['another host', () => `https://localhost:${new URL(sandbox.url).port}`],
    ['another port', () => 'https://127.0.0.1:1'],
    ['the default port', () => 'https://127.0.0.1'],
  ])('sends nothing to %s', async (_, server) => {
    for (const options of [{}, { direct: true }]) {
      const agent = createAgent(cluster, options)
      await request(sandbox.url, agent, { path: '/version' }).then(readText)
      const before = sandbox.connections.opened
      const sent = request(server(), agent, { path: '/version' })
      await expect(sent).rejects.toMatchObject({ code: 'ERR_FOREIGN_ORIGIN' })
      expect(sandbox.connections.opened).toBe(before)
    }
  })

  it('is rejected by Node for the other scheme', () => {
    const agent = createAgent(cluster)
    const send = () => axios.get(`http://127.0.0.1:1/`, { httpAgent: agent, proxy: false })
    return expect(send()).rejects.toMatchObject({ code: 'ERR_INVALID_PROTOCOL' })
  })

  it('sets Host to the cluster, whatever the caller set', async () => {
    await using plain = await startPlainServer(({ headers }, response) => {
      response.end(headers.host)
    })
    const headers = { host: 'other.example' }
    for (const options of [{}, { direct: true }]) {
      const agent = createAgent(plain.cluster, options)
      const response = await request(plain.url, agent, { path: '/', headers })
      expect(await readText(response)).toBe(new URL(plain.url).host)
    }
  })
})
