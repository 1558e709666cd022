import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { beforeAll, describe, expect, it } from 'vitest'
import { nodeCrypto } from '../../src/node/node-crypto.ts'
import { Secret } from '../../src/secret/secret.ts'
import {
  encryptKey,
  keyAs,
  makePair,
  makeRsaPair,
  makeSelfSigned,
  relabel,
  type TestKeyPair,
  toPem,
} from '../fixtures/make-certificates.ts'

let ec: TestKeyPair
let rsa: TestKeyPair
let other: TestKeyPair
beforeAll(async () => {
  ;[ec, rsa, other] = await Promise.all([makePair(), makeRsaPair(), makePair()])
})

const read = (chain: string, key: string) => nodeCrypto.readPair(chain, new Secret(key))

// Parameters of the curve P-256, which `openssl ecparam -genkey` writes before the key.
const EC_PARAMETERS = toPem('EC PARAMETERS', Buffer.from('06082a8648ce3d030107', 'hex'))

describe('a private key is read', () => {
  it.each<[string, () => TestKeyPair, (key: string) => string]>([
    ['PKCS#8', () => ec, (key) => key],
    ['PKCS#8, RSA', () => rsa, (key) => key],
    ['SEC1', () => ec, (key) => keyAs('sec1', key)],
    ['PKCS#1', () => rsa, (key) => keyAs('pkcs1', key)],
    ['SEC1 labelled PRIVATE KEY', () => ec, (key) => relabel(keyAs('sec1', key), 'PRIVATE KEY')],
    [
      'PKCS#1 labelled PRIVATE KEY',
      () => rsa,
      (key) => relabel(keyAs('pkcs1', key), 'PRIVATE KEY'),
    ],
    ['PKCS#8 labelled RSA PRIVATE KEY', () => ec, (key) => relabel(key, 'RSA PRIVATE KEY')],
    ['SEC1 after EC PARAMETERS', () => ec, (key) => EC_PARAMETERS + keyAs('sec1', key)],
    ['after its certificate', () => ec, (key) => ec.certificate + key],
    ['with Windows line ends', () => ec, (key) => key.replaceAll('\n', '\r\n')],
    ['with remarks inside', () => ec, (key) => key.replace('-----\n', '-----\nKept-By: jane\n\n')],
    ['without the last line end', () => ec, (key) => key.trim()],
    ['between remarks', () => ec, (key) => `Bag Attributes\n  a: b\n${key}\nthe end\n`],
  ])('in the form %s, and returned as PKCS#8', (_, pair, form) => {
    const { certificate, key } = pair()
    const made = read(certificate, form(key))
    if (typeof made === 'string') throw new Error(made)
    expect(createPrivateKey(made.key.expose()).equals(createPrivateKey(key))).toBe(true)
    expect(made.key.expose()).toMatch(/^-----BEGIN PRIVATE KEY-----\n/)
    expect(() => createSecureContext({ cert: made.chain, key: made.key.expose() })).not.toThrow()
  })
})

describe('a certificate pair is rejected', () => {
  it.each<[string, () => [string, string]]>([
    ['mismatch', () => [ec.certificate, other.key]],
    ['mismatch', () => [ec.certificate, rsa.key]],
    ['no-certificate', () => ['', ec.key]],
    ['no-certificate', () => [ec.key, ec.key]],
    ['no-certificate', () => [ec.certificate.slice(0, -10), ec.key]],
    ['no-certificate', () => [Buffer.from(ec.certificate).toString('base64'), ec.key]],
    ['broken-certificate', () => [toPem('CERTIFICATE', Buffer.from('no DER')), ec.key]],
    ['broken-certificate', () => [ec.certificate + toPem('CERTIFICATE', Buffer.from('x')), ec.key]],
    ['no-key', () => [ec.certificate, '']],
    ['no-key', () => [ec.certificate, ec.certificate]],
    ['no-key', () => [ec.certificate, EC_PARAMETERS]],
    ['broken-key', () => [ec.certificate, toPem('PRIVATE KEY', Buffer.from('no DER'))]],
    ['broken-key', () => [ec.certificate, relabel(ec.certificate, 'PRIVATE KEY')]],
    ['encrypted-key', () => [ec.certificate, encryptKey('pkcs8', ec.key)]],
    ['encrypted-key', () => [ec.certificate, encryptKey('sec1', ec.key)]],
  ])('as %s (%#)', (problem, pair) => {
    expect(read(...pair())).toBe(problem)
  })
})

describe('a certificate', () => {
  it('is returned with its intermediates, leaf first', async () => {
    const { certificate, key } = await makePair({ intermediate: true })
    expect(read(certificate, key)).toMatchObject({ chain: certificate })
    expect(certificate.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
  })

  it('needs no line break after its END line', async () => {
    const { certificate, key } = await makePair({ intermediate: true })
    const tight = certificate.replace('-----\n-----', '----------').trim()
    expect(read(tight, key)).toMatchObject({ chain: certificate })
  })

  it('has its validity period', () => {
    const { validFrom, validTo } = new X509Certificate(ec.certificate)
    const [notBefore, notAfter] = [Date.parse(validFrom), Date.parse(validTo)]
    expect(read(ec.certificate, ec.key)).toMatchObject({ notBefore, notAfter })
  })

  it('is parsed in linear time', () => {
    const text = '-----BEGIN CERTIFICATE-----\n'.repeat(100_000)
    // In quadratic time, this would exceed the time limit of the test.
    expect(read(text, text)).toBe('no-certificate')
  })
})

describe('a digest', () => {
  it('is equal only for equal texts, and is keyed', () => {
    const [a, b] = [nodeCrypto.digest('a'), nodeCrypto.digest('b')]
    expect(a).toBe(nodeCrypto.digest('a'))
    expect(a).not.toBe(b)
    expect(a).not.toBe('ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=')
  })
})

describe('a chain without its key', () => {
  const der = (pem: string): Buffer => new X509Certificate(pem).raw

  it('is one certificate in DER, or PEM', () => {
    const facts = nodeCrypto.readChain(der(ec.certificate))
    expect(facts).toEqual(nodeCrypto.readChain(Buffer.from(ec.certificate)))
    const { validFrom, validTo } = new X509Certificate(ec.certificate)
    expect(facts).toEqual({
      keyKind: 'EC prime256v1',
      chain: ec.certificate,
      notBefore: Date.parse(validFrom),
      notAfter: Date.parse(validTo),
      schemes: ['ecdsa_secp256r1_sha256'],
    })
  })

  it('may have issuers after the leaf, and text between them', async () => {
    const chained = await makePair({ intermediate: true })
    const text = `subject=jane\r\n${chained.certificate.replaceAll('\n', '\r\n')}`
    expect(nodeCrypto.readChain(Buffer.from(text))).toMatchObject({ chain: chained.certificate })
  })

  it('has the signature schemes of its key', async () => {
    const all = ['rsa_pss_rsae_sha256', 'rsa_pss_rsae_sha384', 'rsa_pss_rsae_sha512']
    const schemesOf = (pair: TestKeyPair) => nodeCrypto.readChain(der(pair.certificate))
    expect(schemesOf(rsa)).toMatchObject({ schemes: all })
    // Too short for SHA-512 with a salt of the same length.
    expect(schemesOf(await makeRsaPair(1024))).toMatchObject({ schemes: all.slice(0, 2) })
    const ed25519 = await makeSelfSigned({ name: 'Ed25519' })
    expect(schemesOf(ed25519)).toMatchObject({ schemes: ['ed25519'] })
  })

  it.each<[string, () => Uint8Array, string]>([
    ['nothing', () => new Uint8Array(), 'broken-certificate'],
    ['half of it', () => der(ec.certificate).subarray(0, 100), 'broken-certificate'],
    [
      'more than it',
      () => Buffer.concat([der(ec.certificate), Buffer.from([0])]),
      'broken-certificate',
    ],
    ['a key', () => Buffer.from(ec.key), 'no-certificate'],
    [
      'a broken issuer',
      () => Buffer.from(ec.certificate + toPem('CERTIFICATE', Buffer.from('x'))),
      'broken-certificate',
    ],
  ])('is rejected: %s', (_, bytes, problem) => {
    expect(nodeCrypto.readChain(bytes())).toBe(problem)
  })
})
