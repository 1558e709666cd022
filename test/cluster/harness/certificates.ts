import { createPrivateKey, createPublicKey, generateKeyPairSync, webcrypto } from 'node:crypto'
import { importPublicKey } from '../../../packages/sandbox/src/certificates/import-public-key.ts'
import {
  type AlternativeName,
  type DistinguishedName,
  type Extension,
  loadX509,
} from '../../../packages/sandbox/src/certificates/x509-module.ts'

/** A certificate and its private key, both PEM. */
export interface Pair {
  readonly certificate: string
  readonly key: string
}

export interface LeafOptions {
  readonly user: string
  readonly groups?: readonly string[]
  readonly lifetimeMs?: number
  /** The names of a server; absent for a client. */
  readonly names?: readonly AlternativeName[]
  /** PEM of the public key to certify; the result then has no private key. */
  readonly publicKey?: string
}

const USAGES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' }
const DIGITAL_SIGNATURE = 1
const CERTIFICATE_AND_CRL_SIGN = 32 | 64
const HOUR_MS = 3_600_000
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' }
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' }

/** Creates a CA. It is plain text, so that every process of the suite can issue certificates with it. */
export async function makeAuthority(name: string): Promise<Pair> {
  const key = newKey()
  const x509 = loadX509()
  const certificate = await sign({ name, key }, publicOf(key), {
    subject: [{ CN: [name] }],
    lifetimeMs: 24 * HOUR_MS,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(CERTIFICATE_AND_CRL_SIGN, true),
    ],
  })
  return { certificate, key }
}

/** Issues a certificate for a user or a server; by default for one hour. */
export async function issue(name: string, authority: Pair, options: LeafOptions): Promise<Pair> {
  const { user, groups = [], lifetimeMs = HOUR_MS, names } = options
  const x509 = loadX509()
  const key = options.publicKey === undefined ? newKey() : ''
  const organisations = groups.length === 0 ? [] : [{ O: groups }]
  const usages = names === undefined ? [USAGES.client] : [USAGES.server, USAGES.client]
  const certificate = await sign({ name, key: authority.key }, options.publicKey ?? publicOf(key), {
    subject: [{ CN: [user] }, ...organisations],
    lifetimeMs,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(DIGITAL_SIGNATURE, true),
      new x509.ExtendedKeyUsageExtension(usages),
      ...(names === undefined ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
    ],
  })
  return { certificate, key }
}

interface Contents {
  readonly subject: DistinguishedName
  readonly lifetimeMs: number
  readonly extensions: readonly Extension[]
}

async function sign(
  issuer: { readonly name: string; readonly key: string },
  publicKey: string,
  { subject, lifetimeMs, extensions }: Contents,
): Promise<string> {
  const x509 = loadX509()
  const der = createPrivateKey(issuer.key).export({ type: 'pkcs8', format: 'der' })
  const signingKey = await webcrypto.subtle.importKey('pkcs8', der, CURVE, false, ['sign'])
  const key = await importPublicKey(publicKey)
  const own = await importPublicKey(publicOf(issuer.key))
  const identifiers = await Promise.all([
    x509.SubjectKeyIdentifierExtension.create(key, false, webcrypto),
    x509.AuthorityKeyIdentifierExtension.create(own, false, webcrypto),
  ])
  const made = await x509.X509CertificateGenerator.create(
    {
      subject,
      issuer: [{ CN: [issuer.name] }],
      notBefore: new Date(Date.now() - HOUR_MS),
      // X.509 has whole seconds; rounding down could make a short-lived certificate expire at once.
      notAfter: new Date(Math.ceil((Date.now() + lifetimeMs) / 1000) * 1000),
      publicKey: key,
      signingKey,
      signingAlgorithm: SIGNING,
      extensions: [...extensions, ...identifiers],
    },
    webcrypto,
  )
  return `${made.toString('pem').trim()}\n`
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function publicOf(key: string): string {
  return createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
}
