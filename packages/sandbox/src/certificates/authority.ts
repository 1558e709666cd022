import { KeyObject, webcrypto } from 'node:crypto'
import { importPublicKey } from './import-public-key.ts'
import {
  type AlternativeName,
  type DistinguishedName,
  type Extension,
  loadX509,
  type X509Module,
} from './x509-module.ts'

/** The contents of a new certificate. */
interface CertificateRequest {
  readonly subject: DistinguishedName
  readonly notBefore: Date
  readonly notAfter: Date
  readonly usage: 'client' | 'server'
  readonly alternativeNames?: readonly AlternativeName[]
  /** PEM of an existing public key; by default a new key is generated. */
  readonly publicKey?: string | undefined
}

/** A certificate and its private key (PKCS#8), both as PEM. The key is empty if the request had a public key. */
export interface KeyedCertificate {
  readonly certificate: string
  readonly key: string
}

/** A certificate authority: a root or an intermediate. */
export interface Authority {
  readonly certificate: string
  issue(request: CertificateRequest): Promise<KeyedCertificate>
  issueIntermediate(name: string): Promise<Authority>
}

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' }
const SIGNING_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' }
const DAY_MS = 86_400_000
const USAGE_OIDS = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' }
// Bits of the key usage extension, RFC 5280 section 4.2.1.3.
const DIGITAL_SIGNATURE = 1
const CERTIFICATE_AND_CRL_SIGN = 32 | 64

/** Creates a root certificate authority with a new key. */
export async function createAuthority(name: string): Promise<Authority> {
  const keys = await generateKeys()
  return makeAuthority(loadX509(), name, { name, keys }, keys)
}

interface Issuer {
  readonly name: string
  readonly keys: webcrypto.CryptoKeyPair
}

async function makeAuthority(
  x509: X509Module,
  name: string,
  issuer: Issuer,
  keys: webcrypto.CryptoKeyPair,
): Promise<Authority> {
  const now = Date.now()
  const certificate = await sign(x509, issuer, keys.publicKey, {
    subject: commonName(name),
    notBefore: new Date(now - 365 * DAY_MS),
    notAfter: new Date(now + 3650 * DAY_MS),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(CERTIFICATE_AND_CRL_SIGN, true),
    ],
  })
  const own: Issuer = { name, keys }
  return {
    certificate,
    issue: async (request) => issueLeaf(x509, own, request),
    issueIntermediate: async (subject) => makeAuthority(x509, subject, own, await generateKeys()),
  }
}

async function issueLeaf(
  x509: X509Module,
  issuer: Issuer,
  request: CertificateRequest,
): Promise<KeyedCertificate> {
  const keys = request.publicKey === undefined ? await generateKeys() : undefined
  const publicKey = keys?.publicKey ?? (await importPublicKey(request.publicKey ?? ''))
  const names = request.alternativeNames
  const certificate = await sign(x509, issuer, publicKey, {
    ...request,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(DIGITAL_SIGNATURE, true),
      new x509.ExtendedKeyUsageExtension([USAGE_OIDS[request.usage]]),
      ...(names === undefined ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
    ],
  })
  return { certificate, key: keys === undefined ? '' : exportKey(keys.privateKey) }
}

interface Contents {
  readonly subject: DistinguishedName
  readonly notBefore: Date
  readonly notAfter: Date
  readonly extensions: readonly Extension[]
}

async function sign(
  x509: X509Module,
  issuer: Issuer,
  publicKey: webcrypto.CryptoKey,
  contents: Contents,
): Promise<string> {
  const { subject, notBefore, notAfter } = contents
  const identifiers = await Promise.all([
    x509.SubjectKeyIdentifierExtension.create(publicKey, false, webcrypto),
    x509.AuthorityKeyIdentifierExtension.create(issuer.keys.publicKey, false, webcrypto),
  ])
  const created = await x509.X509CertificateGenerator.create(
    {
      subject,
      issuer: commonName(issuer.name),
      notBefore,
      notAfter,
      publicKey,
      signingKey: issuer.keys.privateKey,
      signingAlgorithm: SIGNING_ALGORITHM,
      extensions: [...contents.extensions, ...identifiers],
    },
    webcrypto,
  )
  return `${created.toString('pem').trim()}\n`
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify'])
}

function exportKey(key: webcrypto.CryptoKey): string {
  return KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString()
}

function commonName(name: string): DistinguishedName {
  return [{ CN: [name] }]
}
