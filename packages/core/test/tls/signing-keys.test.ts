import { describe, expect, it } from 'vitest'
import type { SignatureScheme, SigningRequest } from '../../src/credential/signing-key.ts'
import { withMlDsaKey } from './identities.ts'
import { type Habits, softwareKey } from './software-key.ts'
import {
  authority,
  dialSigned,
  echo,
  eventually,
  failure,
  jane,
  startServer,
} from './tls-server.ts'

/** What a server hears of a handshake that was given up. */
const HEARD = {
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

  it('gets the message, and its digest', async () => {
    const { scheme, message, digest } = await request('P-384')
    expect(scheme).toBe('ecdsa_secp384r1_sha384')
    expect(Buffer.from(message).toString('latin1', 0, 98)).toBe(
      `${' '.repeat(64)}TLS 1.3, client CertificateVerify\0`,
    )
    expect(digest).toHaveLength(48)
  })

  it('gets the message as the digest for Ed25519', async () => {
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
  ] as const)('of %s is offered %j', async (kind, schemes) => {
    const identity = await authority.client(kind)
    const signingKey = softwareKey(identity.key)
    await using server = await startServer({ ciphers: 'DEFAULT:@SECLEVEL=0' })
    const socket = await dialSigned(server.port, { identity, signingKey })
    expect(await echo(socket, 'hello')).toBe('hello')
    expect(signingKey.offers).toEqual([schemes])
    socket.destroy()
  })

  it('is offered what the server likes best first', async () => {
    const identity = await authority.client('RSA-2048')
    const signingKey = softwareKey(identity.key)
    const sigalgs = 'ecdsa_secp256r1_sha256:rsa_pss_rsae_sha512:rsa_pss_rsae_sha256'
    await using server = await startServer({ sigalgs })
    const socket = await dialSigned(server.port, { identity, signingKey })
    expect(await echo(socket, 'hello')).toBe('hello')
    expect(signingKey.offers).toEqual([['rsa_pss_rsae_sha512', 'rsa_pss_rsae_sha256']])
    socket.destroy()
  })

  it('is not asked when the server accepts nothing that goes with it', async () => {
    const identity = await authority.client('Ed25519')
    const signingKey = softwareKey(identity.key)
    await using server = await startServer({ sigalgs: 'ecdsa_secp256r1_sha256' })
    const error = await failure(dialSigned(server.port, { identity, signingKey }))
    expect(error).toMatchObject({
      code: 'ERR_HANDSHAKE_NOT_SIGNED',
      message: expect.stringContaining('no signature that goes with the certificate'),
    })
    expect(signingKey.offers).toEqual([])
    await eventually(() => expect(server.failures).toEqual([HEARD.handshakeFailure]))
  })

  it.each([
    ['Ed448', async () => authority.client('Ed448')],
    ['ML-DSA-65', async () => withMlDsaKey(await authority.client('RSA-2048'))],
  ])('of a kind that we lack is named as ours: %s', async (kind, make) => {
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
    ['can make none of them', undefined, HEARD.handshakeFailure, 'the key can make no signature'],
    ['wants another one', 'ed25519', HEARD.internalError, 'ed25519, which is not among'],
    ['wants something odd', 'toString', HEARD.internalError, 'which is not among'],
  ]
  it.each(chosen)('%s', async (_, scheme, heard, says) => {
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

  const signatures: [string, NonNullable<Habits['sign']>][] = [
    ['is garbage', async () => Buffer.from('garbage')],
    ['is empty', async () => new Uint8Array(0)],
    ['is nothing', async () => undefined as unknown as Uint8Array],
    ['is a text', async () => 'signature' as unknown as Uint8Array],
    ['is of another key', (_, request) => otherKey.sign(request)],
    ['is of another message', async (_, r) => otherKey.sign({ ...r, message: r.digest })],
    ['was damaged', async (sign) => flipLastBit(sign())],
    ['has bytes after it', async (sign) => Buffer.concat([sign(), Buffer.of(0)])],
    ['is huge', async () => Buffer.alloc(2 ** 20)],
    [
      'is of a message that the signer changed',
      async (sign, { message }) => {
        message.fill(0)
        return sign()
      },
    ],
  ]
  it.each(signatures)('whose signature %s: it is not sent', async (_, sign) => {
    await using server = await startServer()
    const signingKey = softwareKey(jane.key, { sign })
    const error = await failure(dialSigned(server.port, { signingKey }))
    expect(error).toMatchObject({ code: 'ERR_SIGNATURE_INVALID' })
    await eventually(() => expect(server.failures).toEqual([HEARD.internalError]))
    expect(server.seen).toEqual([])
  })

  it.each(['choose', 'sign'] as const)('that fails in %s says so itself', async (where) => {
    await using server = await startServer()
    const reason = new Error('the token was pulled out')
    const signingKey = softwareKey(jane.key, { [where]: () => Promise.reject(reason) })
    expect(await failure(dialSigned(server.port, { signingKey }))).toBe(reason)
    // Node's server does not show a warning; the handshake just ends.
    await eventually(() => expect(server.failures).toHaveLength(1))
    expect(server.seen).toEqual([])
  })
})

function flipLastBit(bytes: Buffer): Buffer {
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  return bytes
}
