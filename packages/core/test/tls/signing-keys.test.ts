import { describe, expect, it } from 'vitest'
import type { SignatureScheme, SigningRequest } from '../../src/credential/signing-key.ts'
import { withMlDsaKey } from './identities.ts'
import { type Misbehaviour, softwareKey } from './software-key.ts'
import {
  authority,
  dialSigned,
  echo,
  eventually,
  failure,
  jane,
  startServer,
} from './tls-server.ts'

/** The alerts that a server receives. */
const ALERTS = {
  internalError: 'INTERNAL_ERROR',
  handshakeFailure: 'HANDSHAKE_FAILURE',
}
const otherKey = softwareKey((await authority.client('P-256')).key)

describe('a signing key', () => {
  const request = async (kind: Parameters<typeof authority.client>[0]): Promise<SigningRequest> => {
    const identity = await authority.client(kind)
    await using server = await startServer()
    const signingKey = softwareKey(identity.key)
    const socket = await dialSigned(server.port, { identity, signingKey })
    socket.destroy()
    return signingKey.requests[0] ?? expect.unreachable()
  }

  it('receives the message and its digest', async () => {
    const { scheme, message, digest } = await request('P-384')
    expect(scheme).toBe('ecdsa_secp384r1_sha384')
    expect(Buffer.from(message).toString('latin1', 0, 98)).toBe(
      `${' '.repeat(64)}TLS 1.3, client CertificateVerify\0`,
    )
    expect(digest).toHaveLength(48)
  })

  it('receives the message as the digest for Ed25519', async () => {
    const { scheme, message, digest } = await request('Ed25519')
    expect(scheme).toBe('ed25519')
    expect(digest).toEqual(message)
    expect(digest).not.toBe(message)
  })

  it.each([
    ['RSA-2048', ['rsa_pss_rsae_sha256', 'rsa_pss_rsae_sha384', 'rsa_pss_rsae_sha512']],
    ['RSA-1024', ['rsa_pss_rsae_sha256', 'rsa_pss_rsae_sha384']],
    ['P-256', ['ecdsa_secp256r1_sha256']],
    ['P-521', ['ecdsa_secp521r1_sha512']],
    ['Ed25519', ['ed25519']],
  ] as const)('of type %s is offered %j', async (kind, schemes) => {
    const identity = await authority.client(kind)
    const signingKey = softwareKey(identity.key)
    await using server = await startServer({ ciphers: 'DEFAULT:@SECLEVEL=0' })
    const socket = await dialSigned(server.port, { identity, signingKey })
    expect(await echo(socket, 'hello')).toBe('hello')
    expect(signingKey.offers).toEqual([schemes])
    socket.destroy()
  })

  it('is offered schemes in the order of the server', async () => {
    const identity = await authority.client('RSA-2048')
    const signingKey = softwareKey(identity.key)
    const sigalgs = 'ecdsa_secp256r1_sha256:rsa_pss_rsae_sha512:rsa_pss_rsae_sha256'
    await using server = await startServer({ sigalgs })
    const socket = await dialSigned(server.port, { identity, signingKey })
    expect(await echo(socket, 'hello')).toBe('hello')
    expect(signingKey.offers).toEqual([['rsa_pss_rsae_sha512', 'rsa_pss_rsae_sha256']])
    socket.destroy()
  })

  it('is not called if the server accepts no scheme of its type', async () => {
    const identity = await authority.client('Ed25519')
    const signingKey = softwareKey(identity.key)
    await using server = await startServer({ sigalgs: 'ecdsa_secp256r1_sha256' })
    const error = await failure(dialSigned(server.port, { identity, signingKey }))
    expect(error).toMatchObject({
      code: 'ERR_HANDSHAKE_NOT_SIGNED',
      message: expect.stringContaining(
        'no signature scheme that the key of the certificate supports',
      ),
    })
    expect(signingKey.offers).toEqual([])
    await eventually(() => expect(server.failures).toEqual([ALERTS.handshakeFailure]))
  })

  it.each([
    ['Ed448', async () => authority.client('Ed448')],
    ['ML-DSA-65', async () => withMlDsaKey(await authority.client('RSA-2048'))],
  ])('of the unsupported type %s is reported as unsupported', async (kind, make) => {
    const identity = await make()
    const signingKey = softwareKey(jane.key)
    await using server = await startServer()
    const error = await failure(dialSigned(server.port, { identity, signingKey }))
    expect(error).toMatchObject({
      code: 'ERR_HANDSHAKE_NOT_SIGNED',
      message: expect.stringContaining(`kubecred does not support ${kind} keys`),
    })
    expect(signingKey.offers).toEqual([])
  })

  const chosen: [string, unknown, string, string][] = [
    ['supports none of the schemes', undefined, ALERTS.handshakeFailure, 'key supports none of'],
    ['chooses another scheme', 'ed25519', ALERTS.internalError, 'ed25519, which is not one of'],
    ['chooses an unknown scheme', 'toString', ALERTS.internalError, 'which is not one of'],
  ]
  it.each(chosen)('that %s fails the handshake', async (_, scheme, heard, says) => {
    await using server = await startServer()
    const choose = async () => scheme as SignatureScheme
    const signingKey = softwareKey(jane.key, { choose })
    const error = await failure(dialSigned(server.port, { signingKey }))
    expect(error).toMatchObject({
      code: 'ERR_HANDSHAKE_NOT_SIGNED',
      message: expect.stringContaining(says),
    })
    expect(signingKey.requests).toEqual([])
    await eventually(() => expect(server.failures).toEqual([heard]))
  })

  const signatures: [string, NonNullable<Misbehaviour['sign']>][] = [
    ['is garbage', async () => Buffer.from('garbage')],
    ['is empty', async () => new Uint8Array(0)],
    ['is undefined', async () => undefined as unknown as Uint8Array],
    ['is a string', async () => 'signature' as unknown as Uint8Array],
    ['is from another key', (_, request) => otherKey.sign(request)],
    ['is over another message', async (_, r) => otherKey.sign({ ...r, message: r.digest })],
    ['is corrupted', async (sign) => flipLastBit(sign())],
    ['has trailing bytes', async (sign) => Buffer.concat([sign(), Buffer.of(0)])],
    ['is huge', async () => Buffer.alloc(2 ** 20)],
    [
      'is over a message that the key changed',
      async (sign, { message }) => {
        message.fill(0)
        return sign()
      },
    ],
  ]
  it.each(signatures)(
    'whose signature %s fails the handshake before it is sent',
    async (_, sign) => {
      await using server = await startServer()
      const signingKey = softwareKey(jane.key, { sign })
      const error = await failure(dialSigned(server.port, { signingKey }))
      expect(error).toMatchObject({ code: 'ERR_SIGNATURE_INVALID' })
      await eventually(() => expect(server.failures).toEqual([ALERTS.internalError]))
      expect(server.seen).toEqual([])
    },
  )

  it.each(['choose', 'sign'] as const)(
    'that fails in %s rejects with its own error',
    async (where) => {
      await using server = await startServer()
      const reason = new Error('the token was pulled out')
      const signingKey = softwareKey(jane.key, { [where]: () => Promise.reject(reason) })
      expect(await failure(dialSigned(server.port, { signingKey }))).toBe(reason)
      // Node's server does not report warning alerts.
      await eventually(() => expect(server.failures).toHaveLength(1))
      expect(server.seen).toEqual([])
    },
  )
})

function flipLastBit(bytes: Buffer): Buffer {
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  return bytes
}
