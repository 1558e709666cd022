import { type CredentialError, isCredentialError } from '../errors/credential-error.ts'
import {
  KubeconfigInvalidError,
  KubeconfigNotFoundError,
  KubeconfigSyntaxError,
  KubeconfigUnreadableError,
} from '../errors/kubeconfig-errors.ts'
import type { Kubeconfig } from '../kubeconfig/kubeconfig.ts'
import { parseKubeconfigText } from '../kubeconfig/parse-kubeconfig-text.ts'

/** A kubeconfig is some kilobytes; ten thousand contexts, each with certificates of its own, are forty megabytes. */
export const MAX_KUBECONFIG_BYTES = 64 * 1024 * 1024

/** Reads the bytes of one file; errors carry Node's `code`. */
export type ReadFile = (path: string) => Promise<Uint8Array>

/** What became of a list of kubeconfig files. */
export interface KubeconfigsRead {
  readonly configs: readonly Kubeconfig[]
  /** Files that do not exist, where that is no error. */
  readonly missing: readonly string[]
}

/**
 * Reads and parses kubeconfig files, all of them even if one is broken, so that every mistake is told at once.
 *
 * @param absent Whether a file that does not exist is skipped or an error.
 * @throws {CredentialError} The one error, or one with an `AggregateError` as its cause.
 */
export async function readKubeconfigFiles(
  paths: readonly string[],
  absent: 'skipped' | 'an error',
  readFile: ReadFile,
): Promise<KubeconfigsRead> {
  const configs: Kubeconfig[] = []
  const missing: string[] = []
  const errors: CredentialError[] = []
  const outcomes = await Promise.all(paths.map((path) => readOne(path, readFile)))
  for (const outcome of outcomes) {
    if (!(outcome instanceof Error)) configs.push(outcome)
    else if (absent === 'skipped' && outcome instanceof KubeconfigNotFoundError) {
      missing.push(outcome.path)
    } else errors.push(outcome)
  }
  throwErrors(errors)
  return { configs, missing }
}

async function readOne(path: string, readFile: ReadFile): Promise<Kubeconfig | CredentialError> {
  try {
    return parseKubeconfigText(decodeText(await readFile(path), path), path)
  } catch (error) {
    if (isCredentialError(error)) return error
    return describeReadError(path, error)
  }
}

function throwErrors(errors: readonly CredentialError[]): void {
  const [first, ...others] = errors
  if (first === undefined) return
  if (others.length === 0) throw first
  throw new KubeconfigInvalidError(
    errors.map((error) => error.message),
    {
      hint: [...new Set(errors.map((error) => error.hint))].join(' '),
      cause: new AggregateError(errors),
    },
  )
}

/** Reads UTF-8, with or without a byte order mark, and the UTF-16 that `>` writes in PowerShell. */
function decodeText(bytes: Uint8Array, path: string): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8'
  const text = tryDecode(bytes, encoding)
  if (text === undefined) {
    throw new KubeconfigSyntaxError(path, 'it is not UTF-8 text', {
      hint: 'Save the file as UTF-8; a letter with an accent in Latin-1 is enough to break it.',
    })
  }
  if (text.includes('\0')) {
    throw new KubeconfigSyntaxError(path, 'it is a binary file, not text', {
      hint: 'Check that the path names a kubeconfig.',
    })
  }
  return text
}

function tryDecode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'your user may not read it',
  EPERM: 'your user may not read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  ELOOP: 'its symbolic links lead in a circle',
  ENAMETOOLONG: 'its path is too long',
  ENOTSUP: 'it is not a regular file',
  ENXIO: 'it is a socket or a device',
  EFBIG: 'it is larger than any kubeconfig (64 MiB)',
  EIO: 'the disk reported an error',
}

function describeReadError(path: string, error: unknown): CredentialError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return new KubeconfigNotFoundError(path, { cause: error })
  const reason = REASONS[code] ?? `the system says ${code || 'nothing more'}`
  return new KubeconfigUnreadableError(path, reason, { cause: error })
}
