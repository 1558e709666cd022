import { webcrypto } from 'node:crypto'
import { loadX509 } from '../../../sandbox/src/certificates/x509-module.ts'
import { toPem } from '../fixtures/make-certificates.ts'

/** Key types, and their WebCrypto algorithms. */
const KINDS = {
  'RSA-2048': { ...rsa(2048) },
  'RSA-1024': { ...rsa(1024) },
  'P-256': { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  'P-384': { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  'P-521': { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' },
  Ed25519: { name: 'Ed25519', hash: 'SHA-512' },
  Ed448: { name: 'Ed448', hash: '' },
} as const

export type KeyKind = keyof typeof KINDS

/** A certificate chain and the key of its leaf, as PEM. */
export interface Identity {
  readonly chain: string
  readonly key: string
}

export interface TestAuthority {
  /** Its own certificate. */
  readonly ca: string
  server(kind: KeyKind, names?: readonly string[]): Promise<Identity>
  client(kind: KeyKind, name?: string): Promise<Identity>
  /** Issues an intermediate CA, whose certificate is in the chains that it issues. */
  below(): Promise<TestAuthority>
}

interface Made {
  readonly certificate: string
  readonly keys: webcrypto.CryptoKeyPair
}

const HOUR_MS = 3_600_000
const USAGE = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' }
const SIGN = { name: 'ECDSA', hash: 'SHA-256' }
const HOSTS = ['localhost', 'server.test']

/** Creates a root CA for tests; no keys are stored in the repository. */
export async function makeAuthority(name = 'test root'): Promise<TestAuthority> {
  const keys = await generate('P-256')
  const root = { certificate: await issueAuthority(name, keys, { name, keys }), keys }
  return authority(name, root, '')
}

function authority(name: string, { certificate, keys }: Made, chain: string): TestAuthority {
  const issuer = { name, keys }
  const leaf = async (
    kind: KeyKind,
    subject: string,
    extensions: Extensions,
  ): Promise<Identity> => {
    const own = await generate(kind)
    const made = await issue(subject, own, issuer, extensions)
    return { chain: made + chain, key: await exportKey(own) }
  }
  return {
    ca: certificate,
    server: (kind, names = HOSTS) => leaf(kind, 'server', { usage: 'server', names }),
    client: (kind, subject = 'jane') => leaf(kind, subject, { usage: 'client', names: [] }),
    async below() {
      const lower = await generate('P-256')
      const signed = await issueAuthority('test intermediate', lower, issuer)
      const made = { certificate: signed, keys: lower }
      return authority('test intermediate', made, signed + chain)
    },
  }
}

interface Extensions {
  readonly usage: 'client' | 'server' | 'authority'
  readonly names: readonly string[]
}

interface Issuer {
  readonly name: string
  readonly keys: webcrypto.CryptoKeyPair
}

function issueAuthority(name: string, keys: webcrypto.CryptoKeyPair, issuer: Issuer) {
  return issue(name, keys, issuer, { usage: 'authority', names: [] })
}

async function issue(
  subject: string,
  keys: webcrypto.CryptoKeyPair,
  issuer: Issuer,
  { usage, names }: Extensions,
): Promise<string> {
  const x509 = loadX509()
  const isAuthority = usage === 'authority'
  const made = await x509.X509CertificateGenerator.create(
    {
      subject: [{ CN: [subject] }],
      issuer: [{ CN: [issuer.name] }],
      notBefore: new Date(Date.now() - HOUR_MS),
      notAfter: new Date(Date.now() + 24 * HOUR_MS),
      publicKey: keys.publicKey,
      signingKey: issuer.keys.privateKey,
      signingAlgorithm: SIGN,
      extensions: [
        new x509.BasicConstraintsExtension(isAuthority, undefined, true),
        new x509.KeyUsagesExtension(isAuthority ? 32 | 64 : 1, true),
        ...(isAuthority ? [] : [new x509.ExtendedKeyUsageExtension([USAGE[usage]])]),
        ...(names.length === 0
          ? []
          : [
              new x509.SubjectAlternativeNameExtension(
                names.map((value) => ({ type: 'dns', value })),
              ),
            ]),
      ],
    },
    webcrypto,
  )
  return `${made.toString('pem').trim()}\n`
}

/** Returns the certificate with the OID of ML-DSA-65 as its key algorithm. Its signature is not valid. */
export function withMlDsaKey({ chain, key }: Identity): Identity {
  const [rsa, mlDsa65] = ['06092a864886f70d010101', '0609608648016503040312']
  const der = Buffer.from(chain.replaceAll(/-----.*?-----|\s/g, ''), 'base64').toString('hex')
  return { chain: toPem('CERTIFICATE', Buffer.from(der.replace(rsa, mlDsa65), 'hex')), key }
}

async function generate(kind: KeyKind): Promise<webcrypto.CryptoKeyPair> {
  const algorithm = KINDS[kind] as webcrypto.EcKeyGenParams
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

async function exportKey(keys: webcrypto.CryptoKeyPair): Promise<string> {
  return toPem(
    'PRIVATE KEY',
    Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)),
  )
}

function rsa(modulusLength: number) {
  const publicExponent = new Uint8Array([1, 0, 1])
  return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength, publicExponent }
}
