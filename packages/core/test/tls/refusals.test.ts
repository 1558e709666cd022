import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { describe, expect, it, vi } from 'vitest'
import { HandshakeError } from '../../src/tls/alert.ts'
import { HandshakeTracker } from '../../src/tls/handshake-tracker.ts'
import { listen } from '../fixtures/proxies.ts'
import { makeAuthority } from './identities.ts'
import { softwareKey } from './software-key.ts'
import {
  type DialingOptions,
  dialSigned,
  echo,
  eventually,
  failure,
  jane,
  openTcp,
  startServer,
} from './tls-server.ts'

const stranger = await makeAuthority('other root')

describe('a server that fails verification', () => {
  const refused: [string, DialingOptions['tls'], string][] = [
    ['has another CA', { ca: stranger.ca }, 'SELF_SIGNED_CERT_IN_CHAIN'],
    ['has another name', { servername: 'other.test' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['fails checkServerIdentity of the caller', { checkServerIdentity: () => new Error('no') }, ''],
  ]
  it.each(refused)(
    'because it %s receives an alert, and the key is not called',
    async (_, tls, code) => {
      await using server = await startServer()
      const signingKey = softwareKey(jane.key)
      const socket = await openTcp(server.port)
      const error = await failure(dialSigned(server.port, { signingKey, socket, tls: { ...tls } }))
      expect(error).toMatchObject(code === '' ? { message: 'no' } : { code })
      expect([signingKey.offers, signingKey.requests]).toEqual([[], []])
      expect(socket.destroyed).toBe(true)
      await eventually(() => expect(server.failures).toEqual(['CERTIFICATE_UNKNOWN']))
      expect(server.seen).toEqual([])
    },
  )

  it('is accepted with rejectUnauthorized: false', async () => {
    await using server = await startServer()
    const tls = { ca: stranger.ca, rejectUnauthorized: false }
    const socket = await dialSigned(server.port, { tls })
    expect(await echo(socket, 'hello')).toBe('hello')
    expect(socket.authorized).toBe(false)
    expect(server.seen[0]?.authorized).toBe(true)
    socket.destroy()
  })
})

describe('a server that refuses the certificate', () => {
  it('closes the connection after the handshake, as with a local key', async () => {
    await using server = await startServer()
    const identity = await stranger.client('P-256')
    const socket = await dialSigned(server.port, { identity })
    socket.resume()
    await once(socket, 'close')
    expect(server.seen).toEqual([])
  })
})

describe('a handshake that cannot be tracked', () => {
  it('fails if its cipher suite is unsupported', async () => {
    const ciphers = 'TLS_AES_128_CCM_SHA256'
    await using server = await startServer({ ciphers })
    const signingKey = softwareKey(jane.key)
    const error = await failure(dialSigned(server.port, { signingKey, tls: { ciphers } }))
    expect(error).toMatchObject({
      code: 'ERR_HANDSHAKE_NOT_SIGNED',
      message: expect.stringContaining('an unsupported cipher suite'),
    })
    expect([signingKey.offers, server.seen]).toEqual([[], []])
  })

  it('fails if Node does not report its secrets', async () => {
    using _ = vi.spyOn(HandshakeTracker.prototype, 'addKeylogLine').mockReturnValue()
    await using server = await startServer()
    const signingKey = softwareKey(jane.key)
    expect(await failure(dialSigned(server.port, { signingKey }))).toMatchObject({
      code: 'ERR_HANDSHAKE_NOT_SIGNED',
      message: expect.stringContaining('Node did not report the secrets'),
    })
    expect([signingKey.offers, server.seen]).toEqual([[], []])
  })

  it('fails with an alert if its transcript differs', async () => {
    const conclude = vi.spyOn(HandshakeTracker.prototype, 'conclude')
    conclude.mockImplementation(() => {
      throw new HandshakeError(40, 'the transcript differs')
    })
    using _ = conclude
    await using server = await startServer()
    const signingKey = softwareKey(jane.key)
    expect(await failure(dialSigned(server.port, { signingKey }))).toMatchObject({
      code: 'ERR_HANDSHAKE_NOT_SIGNED',
      message: 'the TLS handshake was not signed: the transcript differs',
    })
    expect([signingKey.offers, server.seen]).toEqual([[], []])
    const heard = ['HANDSHAKE_FAILURE']
    await eventually(() => expect(server.failures).toEqual(heard))
  })
})

describe('an alert of the client', () => {
  /** Returns the types of the records that a client sends until it closes. */
  async function recordsOf(options: TlsOptions): Promise<{ types: number[]; heard: string[] }> {
    await using server = await startServer(options)
    const sent: Buffer[] = []
    await using tap = await listen((client) => {
      const onward = connectTcp(server.port, '127.0.0.1').on('error', () => {})
      client.on('data', (chunk: Buffer) => sent.push(chunk)).on('error', () => {})
      client.pipe(onward).pipe(client)
    })
    const signingKey = softwareKey(jane.key, { sign: async () => Buffer.from('garbage') })
    await failure(dialSigned(tap.port, { signingKey }))
    await eventually(() => expect(server.failures).not.toEqual([]))
    const types: number[] = []
    const bytes = Buffer.concat(sent)
    for (let at = 0; at < bytes.length; at += 5 + bytes.readUInt16BE(at + 3)) {
      types.push(bytes[at] ?? 0)
    }
    return { types, heard: server.failures }
  }
  const [CHANGE_CIPHER_SPEC, HANDSHAKE, ENCRYPTED] = [20, 22, 23]

  it('follows a change_cipher_spec, and the server can read it (RFC 8446, D.4)', async () => {
    expect(await recordsOf({})).toEqual({
      types: [HANDSHAKE, CHANGE_CIPHER_SPEC, ENCRYPTED],
      heard: ['INTERNAL_ERROR'],
    })
  })

  it('follows the change_cipher_spec before the second ClientHello, if there is one', async () => {
    expect(await recordsOf({ ecdhCurve: 'P-384' })).toEqual({
      types: [HANDSHAKE, CHANGE_CIPHER_SPEC, HANDSHAKE, ENCRYPTED],
      heard: ['INTERNAL_ERROR'],
    })
  })
})

describe('a server that does not speak TLS', () => {
  it.each([
    ['speaks HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n', /^ERR_SSL_/],
    ['closes without a response', '', /^ECONNRESET$/],
  ])('fails the handshake if it %s', async (_, text, code) => {
    await using server = await listen((socket) => socket.once('data', () => socket.end(text)))
    const signingKey = softwareKey(jane.key)
    const error = await failure(dialSigned(server.port, { signingKey }))
    expect(error).toMatchObject({ code: expect.stringMatching(code) })
    expect(signingKey.offers).toEqual([])
    await eventually(() => expect(server.open.size).toBe(0))
  })

  it('fails the handshake if it has closed before', async () => {
    await using server = await listen((socket) => socket.end())
    for (const allowHalfOpen of [true, false]) {
      const socket = connectTcp({ port: server.port, host: '127.0.0.1', allowHalfOpen })
      await once(socket.resume(), 'end')
      const error = await failure(dialSigned(server.port, { socket }))
      expect(error).toBeInstanceOf(Error)
      expect(socket.destroyed).toBe(true)
    }
  })
})

describe('options', () => {
  it.each(['key', 'cert', 'pfx', 'session', 'secureContext', 'pskCallback'])(
    'reject tls.%s',
    async (name) => {
      await using server = await startServer()
      const socket = await openTcp(server.port)
      const error = await failure(dialSigned(server.port, { socket, tls: { [name]: 'x' } }))
      expect(error).toBeInstanceOf(TypeError)
      expect(error).toMatchObject({ message: expect.stringContaining(`tls.${name}`) })
      expect(socket.destroyed).toBe(true)
    },
  )

  const huge = Array(200).fill(jane.chain).join('')
  it.each([
    ['has no certificate', '', 'no PEM certificate'],
    ['has a malformed certificate', jane.chain.replace('MII', 'AAA'), 'certificate 1 of the chain'],
    ['is too long for a server', huge, 'servers accept at most'],
  ])('reject a chain that %s', async (_, chain, says) => {
    await using server = await startServer()
    const socket = await openTcp(server.port)
    const error = await failure(
      dialSigned(server.port, { socket, identity: { chain, key: jane.key } }),
    )
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject({ message: expect.stringContaining(says) })
    expect(socket.destroyed).toBe(true)
  })
})
