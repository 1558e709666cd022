import {
  constants,
  createHmac,
  createPrivateKey,
  type KeyObject,
  verify,
  X509Certificate,
} from 'node:crypto'
import type { KeyPair } from '../credential/credential.ts'
import {
  fitsKey,
  keyKind,
  MAX_CHAIN_BYTES,
  SCHEME_FACTS,
  type SignatureScheme,
} from '../credential/signing-key.ts'
import type { ChainFacts, ChainProblem, Crypto, PairProblem } from '../ports/crypto.ts'
import { Secret } from '../secret/secret.ts'
import { versionRegistry } from './process-registry.ts'

/** The crypto port, with Node's OpenSSL. */
export const nodeCrypto: Crypto = {
  digest: (text) => createHmac('sha256', versionRegistry().hmacKey).update(text).digest('base64'),
  readPair,
  readChain,
  isSignature,
  jitter: () => Math.random() * 2 - 1,
}

function readPair(chain: string, key: Secret): KeyPair | PairProblem {
  const read = readLeaf(pemBlocks(chain))
  if (typeof read === 'string') return read
  const { leaf, ...facts } = read
  const privateKey = readKey(key.expose())
  if (typeof privateKey === 'string') return privateKey
  if (!leaf.checkPrivateKey(privateKey)) return 'mismatch'
  return {
    ...facts,
    key: new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
  }
}

const PEM_BEGIN = '-----BEGIN '

function readChain(bytes: Uint8Array): ChainFacts | ChainProblem {
  const der = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isPem = der.includes(PEM_BEGIN)
  const blocks = isPem ? pemBlocks(der.toString('latin1')) : [{ label: 'CERTIFICATE', der }]
  const read = readLeaf(blocks)
  if (typeof read === 'string') return read
  const { leaf, ...facts } = read
  // Bytes after the certificate would be sent to the server with it.
  if (!isPem && leaf.raw.length !== der.length) return 'broken-certificate'
  const length = blocks.reduce((sum, block) => sum + block.der.length, 0)
  if (length > MAX_CHAIN_BYTES) return 'long-chain'
  return { ...facts, ...keyOf(leaf) }
}

interface ReadLeaf extends Omit<ChainFacts, 'schemes' | 'keyKind'> {
  readonly leaf: X509Certificate
}

function readLeaf(blocks: readonly Omit<PemBlock, 'isEncrypted'>[]): ReadLeaf | ChainProblem {
  const certificates = blocks.filter(({ label }) => label === 'CERTIFICATE')
  // All of them: on an invalid intermediate, TLS would fail later with an unhelpful error.
  const [leaf, ...issuers] = certificates.map(({ der }) => readCertificate(der))
  if (certificates.length === 0) return 'no-certificate'
  if (leaf === undefined || issuers.includes(undefined)) return 'broken-certificate'
  const [notBefore, notAfter] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)]
  // OpenSSL accepts a certificate whose times are not times. It would never be renewed, or always.
  if (Number.isNaN(notBefore) || Number.isNaN(notAfter)) return 'broken-certificate'
  // The string form of an X509Certificate is PEM.
  return { leaf, chain: [leaf, ...issuers].join(''), notBefore, notAfter }
}

function readCertificate(der: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(der)
  } catch {
    return undefined
  }
}

/**
 * Reads a private key whatever its PEM label, as Go does: upstream's own tests have a SEC1 key with the label
 * `PRIVATE KEY`, which OpenSSL rejects as PEM.
 */
function readKey(pem: string): KeyObject | PairProblem {
  const block = pemBlocks(pem).find(({ label }) => label.endsWith('PRIVATE KEY'))
  if (block === undefined) return 'no-key'
  if (block.label.startsWith('ENCRYPTED') || block.isEncrypted) return 'encrypted-key'
  for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
    try {
      return createPrivateKey({ key: block.der, format: 'der', type })
    } catch {
      // Try the next format.
    }
  }
  return 'broken-key'
}

interface PemBlock {
  readonly label: string
  readonly der: Buffer
  readonly isEncrypted: boolean
}

/** Splits text into PEM blocks. Linear time: one pattern over whole blocks would be quadratic for many BEGIN lines. */
function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  let open: { label: string; start: number } | undefined
  for (const line of text.matchAll(/-----(BEGIN|END) ([A-Z0-9 ]+)-----/g)) {
    const [whole, which, label = ''] = line
    if (which === 'END' && open?.label === label) {
      blocks.push(readBlock(label, text.slice(open.start, line.index)))
    }
    open = which === 'BEGIN' ? { label, start: line.index + whole.length } : undefined
  }
  return blocks
}

function readBlock(label: string, body: string): PemBlock {
  return {
    label,
    // Old key files have headers such as `Proc-Type: 4,ENCRYPTED` before the base64.
    der: Buffer.from(body.replace(/^.*:.*$/gm, ''), 'base64'),
    isEncrypted: /^Proc-Type:.*ENCRYPTED/m.test(body),
  }
}

function isSignature(
  chain: string,
  { scheme, message }: Parameters<Crypto['isSignature']>[1],
  signature: Uint8Array,
): boolean {
  const key = new X509Certificate(chain).publicKey
  const { hash, saltLength } = SCHEME_FACTS[scheme]
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }
  try {
    return verify(hash, message, saltLength === undefined ? key : { key, ...pss }, signature)
  } catch {
    // The bytes are not a signature of this key type.
    return false
  }
}

/** Returns the key type of a certificate, and its TLS 1.3 signature schemes, most preferred first. */
export function keyOf(certificate: X509Certificate): {
  readonly keyKind: string
  readonly schemes: readonly SignatureScheme[]
} {
  const key = publicKeyOf(certificate)
  const all = Object.keys(SCHEME_FACTS) as SignatureScheme[]
  return {
    keyKind: keyKind(key, certificate.raw),
    schemes: key === undefined ? [] : all.filter((scheme) => fitsKey(scheme, key)),
  }
}

/** Returns undefined for a key type that this OpenSSL does not know. */
function publicKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey
  } catch {
    return undefined
  }
}
