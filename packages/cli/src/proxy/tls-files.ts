import { createPrivateKey, X509Certificate } from 'node:crypto'
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import type { Server, ServerOptions } from 'node:https'
import { UsageError } from '../usage-error.ts'
import { followFiles } from './follow-files.ts'

/** The paths of the proxy's own certificate and key. */
export interface TlsFiles {
  readonly certificate: string
  readonly key: string
}

/** The certificate and key of a TLS server. */
type Identity = Required<Pick<ServerOptions, 'cert' | 'key'>>

/**
 * Reads the proxy's own certificate and key.
 *
 * @throws {UsageError} If a file cannot be used; the message names it and the reason, never its content.
 */
export function readTlsFiles({
  certificate,
  key,
}: TlsFiles): Identity & Pick<ServerOptions, 'minVersion'> {
  const cert = read(certificate, 'tls-cert-file')
  const pem = read(key, 'tls-key-file')
  const isPair = parse(
    certificate,
    'tls-cert-file',
    () => new X509Certificate(cert),
  ).checkPrivateKey(parse(key, 'tls-key-file', () => createPrivateKey(pem)))
  if (!isPair)
    throw problem(key, 'tls-key-file', `it is not the key of ${JSON.stringify(certificate)}`)
  return { cert, key: pem, minVersion: 'TLSv1.2' }
}

/**
 * Reloads the certificate when its files change. Open connections are not affected.
 *
 * The two files are not replaced atomically: until they match, the old certificate stays in use.
 *
 * @param onProblem Called with a message if a changed certificate cannot be used.
 * @returns A function that stops watching.
 */
export function followTlsFiles(
  files: TlsFiles,
  server: Pick<Server, 'setSecureContext'>,
  onProblem: (message: string) => void,
): () => void {
  const apply = (): void => server.setSecureContext(readTlsFiles(files))
  return followFiles([files.certificate, files.key], 'certificate', apply, onProblem)
}

type TlsFlag = 'tls-cert-file' | 'tls-key-file'

function read(path: string, flag: TlsFlag): string {
  try {
    // Without O_NONBLOCK, opening a named pipe blocks until it has a writer.
    const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      return readFileSync(descriptor, 'utf8')
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw problem(
      path,
      flag,
      code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`,
    )
  }
}

function parse<T>(path: string, flag: TlsFlag, make: () => T): T {
  try {
    return make()
  } catch {
    const what = flag === 'tls-cert-file' ? 'certificate' : 'private key'
    throw problem(path, flag, `it is not a ${what} in PEM format`)
  }
}

function problem(path: string, flag: TlsFlag, reason: string): UsageError {
  return new UsageError(`the file ${JSON.stringify(path)} of --${flag} cannot be used: ${reason}`)
}
