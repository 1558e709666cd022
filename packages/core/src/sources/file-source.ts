import type { Credential, KeyPair } from '../credential/credential.ts'
import type { SigningKey } from '../credential/signing-key.ts'
import {
  CertificateInvalidError,
  type CredentialError,
  FileUnreadableError,
} from '../errors/index.ts'
import type { Clock } from '../ports/clock.ts'
import type { Crypto, PairProblem } from '../ports/crypto.ts'
import type { Files } from '../ports/files.ts'
import type { SourceLabel } from '../ports/observer.ts'
import { Secret } from '../secret/secret.ts'
import type { Acquired, Source } from './source.ts'
import { describePairProblem } from './static-source.ts'

/** How long the content of a file is used before the file is read again, changed or not. */
const REREAD_MS = 60_000

interface FilePorts {
  readonly files: Files
  readonly clock: Clock
}

/**
 * Returns a source for a token file that another program keeps fresh, such as that of a service account.
 *
 * The file is read again when it changes, every minute while in use, and at once after a 401.
 *
 * @param fallback The inline token of the same user entry, used until the file can be read.
 */
export function tokenFileSource(path: string, ports: FilePorts, fallback?: Secret): Source {
  const read = async (): Promise<Credential> => {
    const token = (await readText('token file', path, ports.files)).trim()
    if (token === '') throw new FileUnreadableError('token file', path, 'it is empty')
    if (!/^[\x20-\x7e]+$/.test(token)) {
      throw new FileUnreadableError(
        'token file',
        path,
        'it contains more than one line, or binary data',
      )
    }
    return { token: new Secret(token) }
  }
  const label: SourceLabel = { kind: 'token-file', name: path }
  return reread({ label, read, paths: [path] }, ports, fallback && { token: fallback })
}

/** The certificate or the key of a pair: inline, or in a file that the kubeconfig `field` names. */
export type PemPart = { readonly path: string; readonly field?: string } | { readonly pem: Secret }

/**
 * Returns a source for a client certificate and key of which at least one is in a file.
 *
 * Files are read again when they change, and may be replaced while they are read: a file with both is read once, and
 * two files that do not match are read a second time.
 */
export function certificateFilesSource(
  parts: { chain: PemPart; key: PemPart },
  ports: FilePorts & { readonly crypto: Crypto },
): Source {
  const load = (what: string, part: PemPart): Promise<string> => readPart(what, part, ports.files)
  const names = [parts.chain, parts.key].map((part) => ('path' in part ? part.path : 'inline'))
  const name = [...new Set(names)].join(', ')
  const { chain, key } = parts
  const areFiles = 'path' in chain && 'path' in key
  const isOneFile = areFiles && chain.path === key.path
  const readPair = async (): Promise<KeyPair | PairProblem> => {
    const chainPem = await load('client-certificate', chain)
    const keyPem = isOneFile ? chainPem : await load('client-key', key)
    return ports.crypto.readPair(chainPem, new Secret(keyPem))
  }
  const read = async (): Promise<Credential> => {
    const first = await readPair()
    const isTorn = first === 'mismatch' && areFiles && !isOneFile
    const certificate = isTorn ? await readPair() : first
    if (typeof certificate === 'string') {
      throw new CertificateInvalidError(`${name}: ${describePairProblem(certificate)}`)
    }
    return { certificate }
  }
  const paths = new Set([chain, key].flatMap((part) => ('path' in part ? [part.path] : [])))
  return reread({ label: { kind: 'certificate-files', name }, read, paths: [...paths] }, ports)
}

/**
 * Returns a source for a client certificate whose key is outside this process.
 *
 * Its file is read again when it changes.
 */
export function signedChainSource(
  { chain, ...key }: { chain: PemPart; signingKey: SigningKey; signingKeyId: string },
  ports: FilePorts & { readonly crypto: Crypto },
): Source {
  const name = 'path' in chain ? chain.path : 'client certificate'
  const read = async (): Promise<Credential> => {
    const pem = await readPart('client certificate', chain, ports.files)
    const facts = ports.crypto.readChain(new TextEncoder().encode(pem))
    if (typeof facts === 'string') {
      throw new CertificateInvalidError(`${name}: ${describePairProblem(facts)}`)
    }
    const { notBefore, notAfter } = facts
    return { certificate: { chain: facts.chain, notBefore, notAfter, ...key } }
  }
  const paths = 'path' in chain ? [chain.path] : []
  return reread({ label: { kind: 'signer', name }, read, paths }, ports)
}

async function readPart(what: string, part: PemPart, files: Files): Promise<string> {
  return 'path' in part ? readText(part.field ?? what, part.path, files) : part.pem.expose()
}

interface Reading {
  readonly label: SourceLabel
  readonly read: () => Promise<Credential>
  readonly paths: readonly string[]
}

/**
 * Reads files when they change, and every minute in case a change was missed. While a file is missing or
 * half-written, the last good value stays in use.
 */
function reread(
  { label, read, paths }: Reading,
  { files, clock }: FilePorts,
  fallback?: Credential,
): Source {
  let lastGood: Credential | undefined
  return {
    label,
    watch(onChange) {
      const stops = paths.map((path) => files.watch(path, onChange))
      return () => {
        for (const stop of stops) stop()
      }
    },
    async acquire({ report }): Promise<Acquired> {
      try {
        lastGood = await read()
      } catch (error) {
        const kept = lastGood ?? fallback
        if (kept === undefined) throw error
        const which =
          lastGood === undefined ? 'the token in the kubeconfig' : 'its last good content'
        const { message } = error as CredentialError
        report({ type: 'warning', message: `${message}; ${which} is used` })
        return { credential: kept, expiresAt: clock.now() + REREAD_MS }
      }
      return { credential: lastGood, expiresAt: clock.now() + REREAD_MS }
    },
  }
}

async function readText(what: string, path: string, files: Files): Promise<string> {
  try {
    return await files.read(path)
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string }
    throw new FileUnreadableError(what, path, READ_PROBLEMS[code ?? ''] ?? message, { cause })
  }
}

const READ_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links form a loop',
}
