import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
let cluster: Cluster
let seen: IncomingMessage[]
let evil: { url: string; close: () => void }

beforeEach(async () => {
  seen = []
  const server = createServer((request, response) => {
    seen.push(request)
    response.end('gotcha')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  evil = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  }
  sandbox = await startSandbox()
  const exec = await sandbox.plugin({ user: 'jane', credential: 'both' })
  cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
})
afterEach(async () => {
  await cluster.close()
  evil.close()
  await sandbox.close()
})

describe('a credential never goes to another origin', () => {
  it.each(['absolute', 'URL', 'Request', 'network path', 'backslashes'])(
    'through an address: %s',
    async (form) => {
      const { host } = new URL(evil.url)
      const input = {
        absolute: `${evil.url}/x`,
        URL: new URL('/x', evil.url),
        Request: new Request(`${evil.url}/x`),
        'network path': `//${host}/x`,
        backslashes: `/\\${host}/x`,
      }[form] as string
      await expect(cluster.fetch(input)).rejects.toMatchObject({ code: 'ERR_FOREIGN_ORIGIN' })
      expect(seen).toEqual([])
      expect(sandbox.pluginRuns).toBe(0)
    },
  )

  it.each([301, 302, 303, 307, 308])(
    'through a redirect of %i, which is returned and not followed',
    async (status) => {
      sandbox.respondWith(() => ({ status, headers: { location: `${evil.url}/stolen` } }))
      const response = await cluster.fetch('/api')
      expect([response.status, response.headers.get('location')]).toEqual([
        status,
        `${evil.url}/stolen`,
      ])
      await expect(cluster.fetch('/api', { redirect: 'follow' })).rejects.toMatchObject({
        code: 'ERR_FOREIGN_ORIGIN',
      })
      expect(seen).toEqual([])
    },
  )

  it('through a Host header of the caller', async () => {
    sandbox.respondWith(({ headers }) => ({ status: 200, body: { host: headers['host'] } }))
    const response = await cluster.fetch('/x', { headers: { host: 'evil.example' } })
    expect(await response.json()).toEqual({ host: new URL(cluster.server).host })
  })
})

describe('a redirect inside the origin', () => {
  const toVersion = ({ path }: { path: string }) =>
    path.startsWith('/old') ? { status: 302, headers: { location: '/version?x=1' } } : undefined

  it('is followed when the caller asks for it', async () => {
    sandbox.respondWith(toVersion)
    const response = await cluster.fetch('/old', { redirect: 'follow' })
    expect([response.status, response.url]).toEqual([200, `${cluster.server}/version?x=1`])
    expect(response.redirected).toBe(true)
    expect((await cluster.fetch('/version', { redirect: 'follow' })).redirected).toBe(false)
  })

  it('is an error if the caller says so, and returned otherwise', async () => {
    sandbox.respondWith(toVersion)
    await expect(cluster.fetch('/old', { redirect: 'error' })).rejects.toThrow(TypeError)
    expect((await cluster.fetch('/old')).status).toBe(302)
    expect((await cluster.fetch('/old', { redirect: 'manual' })).status).toBe(302)
  })

  it('is limited in number', async () => {
    sandbox.respondWith(() => ({ status: 302, headers: { location: '/again' } }))
    await expect(cluster.fetch('/again', { redirect: 'follow' })).rejects.toThrow(
      'more than 5 redirects',
    )
  })
})
