import type { Sandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { seen } from '../transports/admin.ts'
import { infoOf, startTwoServers, type TwoServers } from './two-servers.ts'

let servers: TwoServers
let one: Sandbox
let two: Sandbox
beforeEach(async () => {
  servers = await startTwoServers()
  ;({ one, two } = servers)
})
afterEach(() => servers[Symbol.asyncDispose]())

it('exposed values are for cluster.server, with one error when no login is for it any more', async () => {
  let isMoved = false
  const vault = new Vault({ freezeLimitMs: 1000 })
  vault.onLogin(() => (isMoved ? infoOf(two, 'new') : infoOf(one, 'old')), { id: 'it' })
  await using cluster = await connect({ vault })
  const [first, { ca }] = [await cluster.headers(), await cluster.tlsOptions()]
  expect(ca).toBe(one.caPem)
  isMoved = true
  // The old server's credential is refused; the next one is for another server, and must not go here.
  await expect(cluster.reportRefused(first)).rejects.toMatchObject({ code: 'ERR_LOGIN_FAILED' })
  expect(cluster.server).toBe(one.url)
  await expect(cluster.headers()).rejects.toMatchObject({ code: 'ERR_FOREIGN_ORIGIN' })
  expect(cluster.server).toBe(two.url)
  expect(await cluster.headers()).not.toEqual(first)
  expect((await cluster.tlsOptions()).ca).toBe(two.caPem)
})

it('tlsOptions() has the CA of the newest login, although no request was sent', async () => {
  const vault = new Vault()
  vault.onLogin(() => infoOf(one, 'it'), { id: 'it' })
  await using cluster = await connect({ vault })
  const headers = await cluster.headers()
  const before = one.caPem
  expect((await cluster.tlsOptions()).ca).toBe(before)
  await one.rotateServerAuthority()
  one.revoke('it')
  expect(await cluster.reportRefused(headers)).toBe(true)
  expect((await cluster.tlsOptions()).ca).toBe(one.caPem)
  expect(one.caPem).not.toBe(before)
})

it('cluster.server is the server that the last path went to, whatever URLs were requested', async () => {
  const vault = new Vault()
  vault.onLogin(() => ({ ...infoOf(one, 'one'), priority: 1 }), { id: 'one' })
  vault.onLogin(() => infoOf(two, 'two'), { id: 'two' })
  await using cluster = await connect({ vault })
  await expect.poll(() => vault.status()?.logins.every(({ state }) => state === 'ready')).toBe(true)
  await cluster.fetch('/version')
  await cluster.fetch(`${two.url}/version`)
  expect(cluster.server).toBe(one.url)
  one.revoke('one')
  one.respondWith(() => ({ status: 401, body: {} }))
  expect((await cluster.fetch('/version')).status).toBe(200)
  expect(cluster.server).toBe(two.url)
  expect(seen(two).map(({ tokenUser }) => tokenUser)).toEqual(['two', 'two'])
})
