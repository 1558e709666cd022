import { describe, expect, it } from 'vitest'
import type { KeyKind } from './identities.ts'
import { softwareKey } from './software-key.ts'
import { authority, dialSigned, echo, failure, startServer } from './tls-server.ts'

const CLIENTS: KeyKind[] = ['RSA-2048', 'P-256', 'P-384', 'P-521', 'Ed25519']
const SERVERS: KeyKind[] = ['RSA-2048', 'P-256', 'Ed25519']
const PAIRS = CLIENTS.flatMap((client) => SERVERS.map((server) => [client, server] as const))
const clients = new Map(await made(CLIENTS, (kind) => authority.client(kind)))
const servers = new Map(await made(SERVERS, (kind) => authority.server(kind)))

describe('a handshake with a server that requests a certificate', () => {
  it.each(PAIRS)(
    'is signed with a client key of %s and a server key of %s',
    async (clientKind, serverKind) => {
      const identity = clients.get(clientKind) ?? expect.unreachable()
      const { chain: cert, key } = servers.get(serverKind) ?? expect.unreachable()
      await using server = await startServer({ cert, key })
      const signingKey = softwareKey(identity.key)
      const socket = await dialSigned(server.port, { identity, signingKey })
      expect(await echo(socket, 'hello')).toBe('hello')
      expect(socket.getProtocol()).toBe('TLSv1.3')
      expect(socket.authorized).toBe(true)
      expect(server.seen[0]?.authorized).toBe(true)
      expect(server.seen[0]?.getPeerCertificate().subject.CN).toBe('jane')
      expect(signingKey.requests).toHaveLength(1)
      socket.destroy()
    },
  )

  it.each([
    ['TLS_AES_128_GCM_SHA256'],
    ['TLS_AES_256_GCM_SHA384'],
    ['TLS_CHACHA20_POLY1305_SHA256'],
  ])('is signed with the cipher suite %s', async (ciphers) => {
    await using server = await startServer({ ciphers })
    const socket = await dialSigned(server.port)
    expect(await echo(socket, 'hello')).toBe('hello')
    expect(socket.getCipher().name).toBe(ciphers)
    expect(server.seen[0]?.authorized).toBe(true)
    socket.destroy()
  })

  it('sends the intermediate certificates', async () => {
    const identity = await (await authority.below()).client('P-256')
    await using server = await startServer()
    const socket = await dialSigned(server.port, { identity })
    expect(await echo(socket, 'hello')).toBe('hello')
    // The server trusts only the root.
    expect(server.seen[0]?.authorized).toBe(true)
    expect(server.seen[0]?.getPeerCertificate().issuer.CN).toBe('test intermediate')
    socket.destroy()
  })

  it('handles a HelloRetryRequest for another group', async () => {
    await using server = await startServer({ ecdhCurve: 'P-521' })
    const socket = await dialSigned(server.port)
    expect(await echo(socket, 'hello')).toBe('hello')
    expect(server.seen[0]?.authorized).toBe(true)
    expect(socket.getEphemeralKeyInfo()).toMatchObject({ name: 'secp521r1' })
    socket.destroy()
  })

  it('negotiates ALPN', async () => {
    await using server = await startServer({ ALPNProtocols: ['h2', 'http/1.1'] })
    const socket = await dialSigned(server.port, { tls: { ALPNProtocols: ['http/1.1'] } })
    expect(socket.alpnProtocol).toBe('http/1.1')
    expect(server.seen[0]?.alpnProtocol ?? 'http/1.1').toBe('http/1.1')
    socket.destroy()
  })

  it('exports the same keying material as the server', async () => {
    await using server = await startServer()
    const socket = await dialSigned(server.port)
    await echo(socket, 'hello')
    const mine = socket.exportKeyingMaterial(32, 'label', Buffer.alloc(0))
    expect(server.seen[0]?.exportKeyingMaterial(32, 'label', Buffer.alloc(0))).toEqual(mine)
    socket.destroy()
  })

  it('can run many times in parallel', async () => {
    await using server = await startServer()
    const sockets = await Promise.all(Array.from({ length: 30 }, () => dialSigned(server.port)))
    const said = await Promise.all(sockets.map((socket, index) => echo(socket, `number ${index}`)))
    expect(said).toEqual(sockets.map((_, index) => `number ${index}`))
    expect(server.seen.every((socket) => socket.authorized)).toBe(true)
    for (const socket of sockets) socket.destroy()
  })

  it('exposes no session that could be resumed', async () => {
    await using server = await startServer()
    const socket = await dialSigned(server.port)
    const sessions: unknown[] = []
    socket.on('session', (session) => sessions.push(session))
    // The session tickets arrive before the echo.
    await echo(socket, 'hello')
    expect(sessions).toEqual([])
    expect(socket.getSession()).toBeUndefined()
    expect(socket.getTLSTicket()).toBeUndefined()
    expect(socket.getFinished()).toBeUndefined()
    expect(socket.isSessionReused()).toBe(false)
    socket.destroy()
  })
})

describe('a server that requests no certificate', () => {
  it('receives the flight of OpenSSL, and the signing key is not called', async () => {
    await using server = await startServer({ requestCert: false })
    const signingKey = softwareKey(clients.get('P-256')?.key ?? '')
    const socket = await dialSigned(server.port, { signingKey })
    expect(await echo(socket, 'hello')).toBe('hello')
    expect(server.seen[0]?.authorized).toBe(false)
    expect([signingKey.offers, signingKey.requests]).toEqual([[], []])
    socket.destroy()
  })

  it('is still verified', async () => {
    await using server = await startServer({ requestCert: false })
    const error = await failure(dialSigned(server.port, { tls: { servername: 'other.test' } }))
    expect(error).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    expect(server.seen).toEqual([])
  })
})

it('a server without TLS 1.3 is rejected', async () => {
  await using server = await startServer({ maxVersion: 'TLSv1.2' })
  const error = await failure(dialSigned(server.port))
  expect(error).toMatchObject({
    code: 'ERR_HANDSHAKE_NOT_SIGNED',
    message: 'the TLS handshake was not signed: the server does not speak TLS 1.3',
  })
})

async function made<T>(kinds: readonly KeyKind[], make: (kind: KeyKind) => Promise<T>) {
  return Promise.all(kinds.map(async (kind) => [kind, await make(kind)] as const))
}
