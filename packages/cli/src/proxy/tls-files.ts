import { createPrivateKey, X509Certificate } from 'node:crypto'
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import type { Server, ServerOptions } from 'node:https'
import { nodeFiles } from 'kubecred/internal'
import { UsageError } from '../usage-error.ts'

/** Where the certificate of the proxy itself is, and its key. */
export interface TlsFiles {
  readonly certificate: string
  readonly key: string
}

/** What goes into a TLS server. */
type Identity = Required<Pick<ServerOptions, 'cert' | 'key'>>

/**
 * Reads the certificate of the proxy itself.
 *
 * @throws {UsageError} Names the file and what is wrong with it, never what is in it.
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
 * Takes a renewed certificate into use when its files have changed; open connections go on.
 *
 * They are read once at the beginning, because they may have changed since the server was made.
 *
 * @param onProblem Called with a sentence that says why the old one stays in use.
 * @returns A function that stops it.
 */
export function followTlsFiles(
  files: TlsFiles,
  server: Pick<Server, 'setSecureContext'>,
  onProblem: (message: string) => void,
): () => void {
  const renew = (): void => {
    try {
      server.setSecureContext(readTlsFiles(files))
    } catch (error) {
      // The two files are not written at one moment: the next look may find a pair.
      onProblem(`the old certificate stays in use: ${(error as Error).message}`)
    }
  }
  const stops = [files.certificate, files.key].map((path) => nodeFiles.watch(path, renew))
  renew()
  return () => {
    for (const stop of stops) stop()
  }
}

type TlsFlag = 'tls-cert-file' | 'tls-key-file'

function read(path: string, flag: TlsFlag): string {
  try {
    // Without O_NONBLOCK, opening a named pipe waits for its writer, maybe for ever.
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
    throw problem(path, flag, 'it is not what it should be, in PEM form')
  }
}

function problem(path: string, flag: TlsFlag, reason: string): UsageError {
  return new UsageError(`the file ${JSON.stringify(path)} of --${flag} cannot be used: ${reason}`)
}
