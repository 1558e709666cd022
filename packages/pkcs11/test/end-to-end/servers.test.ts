import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  buildGo,
  type GoBuild,
  isThere,
  type Program,
  startGo,
  startProgram,
} from '../../../core/test/tls/other-servers.ts'
import { authority } from '../../../core/test/tls/tls-server.ts'
import { hasSoftHsm, NEEDS } from '../soft-token.ts'
import { type Server, TokenScene } from './token-scene.ts'

const KEYS = [
  ['RSA-2048', { type: 'RSA:2048', id: '01' }],
  ['P-256', { type: 'EC:prime256v1', id: '02' }],
  ['P-384', { type: 'EC:secp384r1', id: '03' }],
] as const

let scene: TokenScene
beforeAll(async () => {
  if (!hasSoftHsm) return
  scene = await TokenScene.open()
  for (const [kind, key] of KEYS) await scene.addKey(key, `jane with ${kind}`)
}, 60_000)
afterEach(() => scene?.disconnect())
afterAll(() => scene?.[Symbol.asyncDispose]())

const serverOf = ({ port }: Program): Server => ({
  url: `https://127.0.0.1:${port}`,
  caPem: authority.ca,
  name: 'localhost',
})

async function read(
  id: string,
  server: Server,
  options: Parameters<TokenScene['connect']>[2] = {},
): Promise<string> {
  const { cluster } = await scene.connect(id, server, options)
  const response = await cluster.fetch('/')
  return response.text()
}

describe.skipIf(!hasSoftHsm)(`keys generated in a token (${NEEDS})`, () => {
  it('cannot be extracted', () => {
    const access = 'sensitive, always sensitive, never extractable, local'
    expect(scene.accessTo()).toEqual(KEYS.map(() => access))
  })

  describe.each(KEYS)('%s', (kind, { id }) => {
    const user = `jane with ${kind}`

    it('authenticates over HTTP/2 with one certificate request, one PIN and one signature', async () => {
      const { cluster, events } = await scene.connect(id)
      const before = scene.sandbox.requests.length
      const get = () => cluster.fetch('/api/v1/namespaces').then(({ status }) => status)
      expect(await Promise.all(Array.from({ length: 20 }, get))).toEqual(Array(20).fill(200))
      for (let count = 0; count < 5; count += 1) expect(await get()).toBe(200)
      const seen = scene.sandbox.requests.slice(before)
      expect(seen).toHaveLength(25)
      expect(new Set(seen.map((each) => each.user))).toEqual(new Set([user]))
      expect(new Set(seen.map(({ httpVersion }) => httpVersion))).toEqual(new Set(['2.0']))
      expect(scene.signer.asked()).toEqual(['CertificateRequest', 'SignRequest'])
      expect(events.filter(({ type }) => type === 'signed')).toHaveLength(1)
      expect(scene.hsm.callsOf('C_Login')).toBe(1)
    })

    it('authenticates over HTTP/1.1 with one certificate request and one PIN for all connections', async () => {
      const { cluster } = await scene.connect(id, scene.sandbox, { transport: 'pool' })
      const before = scene.sandbox.requests.length
      const get = () => cluster.fetch('/api/v1/namespaces').then((response) => response.text())
      await Promise.all(Array.from({ length: 6 }, get))
      const seen = scene.sandbox.requests.slice(before)
      expect(new Set(seen.map((each) => each.user))).toEqual(new Set([user]))
      expect(new Set(seen.map(({ httpVersion }) => httpVersion))).toEqual(new Set(['1.1']))
      const connections = new Set(seen.map(({ connection }) => connection)).size
      const [first, ...others] = scene.signer.asked()
      expect(first).toBe('CertificateRequest')
      expect(connections).toBeGreaterThan(1)
      expect(others.length).toBeGreaterThanOrEqual(connections)
      expect(new Set(others)).toEqual(new Set(['SignRequest']))
      expect(scene.hsm.callsOf('C_Login')).toBe(1)
    })

    it.skipIf(!isThere('openssl', 'version'))('authenticates to openssl s_server', async () => {
      await using server = await startProgram('openssl', ({ cert, key }, port) => [
        ...['s_server', '-accept', `127.0.0.1:${port}`, '-cert', cert, '-key', key, '-www'],
        ...['-CAfile', scene.clientCa, '-Verify', '3', '-verify_return_error'],
      ])
      expect(await read(id, serverOf(server))).toMatch(new RegExp(`Subject: CN ?= ?${user}\n`))
      // ALPN had ruled out HTTP/2 before the handshake was signed.
      expect(scene.signer.asked()).toEqual(['CertificateRequest', 'SignRequest'])
    })

    it.skipIf(!isThere('gnutls-serv', '--version'))('authenticates to gnutls-serv', async () => {
      await using server = await startProgram('gnutls-serv', ({ cert, key }, port) => [
        ...['-p', String(port), '--http', '--x509certfile', cert, '--x509keyfile', key],
        ...['--x509cafile', scene.clientCa, '--require-client-cert', '--verify-client-cert'],
      ])
      expect(await read(id, serverOf(server))).toContain(`Subject: CN=${user}\n`)
      expect(scene.signer.asked()).toEqual(['CertificateRequest', 'SignRequest'])
    })
  })

  describe.skipIf(!isThere('go', 'version'))('a Go server', () => {
    let build: GoBuild
    let server: Program
    beforeAll(async () => {
      build = buildGo()
      server = await startGo(build, '-ca', scene.clientCa)
    }, 240_000)
    afterAll(async () => {
      await server?.[Symbol.asyncDispose]()
      build?.[Symbol.dispose]()
    })

    it.each(KEYS)('accepts %s over all transports', async (kind, { id }) => {
      const expected = `jane with ${kind}`
      expect(await read(id, serverOf(server))).toBe(`${expected} HTTP/2.0 0`)
      for (const transport of ['pool', 'https'] as const) {
        expect(await read(id, serverOf(server), { transport })).toBe(`${expected} HTTP/1.1 0`)
      }
    })
  })
})
