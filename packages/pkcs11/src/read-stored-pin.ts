import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { isAbsolute } from 'node:path'
import process from 'node:process'
import { Pin } from './pin.ts'
import type { PinSettings } from './pin-settings.ts'
import { TokenError } from './token-error.ts'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** PINs of PKCS#11 tokens have at most 255 bytes. */
const MAX_BYTES = 1024
const ACCESSIBLE_TO_OTHERS = 0o077

/**
 * Reads the PIN from the configuration, its file or the environment. Returns undefined if it is in none of them.
 *
 * @throws {TokenError} The file cannot be read, or other users can access it.
 */
export function readStoredPin(
  { value, file, env }: PinSettings,
  environment: Environment,
): Pin | undefined {
  if (value !== undefined) return new Pin(value, 'configuration')
  if (file !== undefined) return new Pin(readPinFile(file), 'file')
  const fromEnvironment = environment[env]
  return fromEnvironment ? new Pin(fromEnvironment, 'environment') : undefined
}

/** Reads a PIN file. A trailing line break, which editors add, is not part of the PIN; blanks may be. */
function readPinFile(path: string): string {
  const fail = (what: string, hint: string, cause?: unknown): TokenError =>
    new TokenError(`PIN file ${JSON.stringify(path)} ${what}`, { hint, cause })
  if (!isAbsolute(path)) throw fail('is not an absolute path', 'Write the full path.')
  let descriptor: number
  try {
    // Opening a named pipe would wait for a writer.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw fail(`cannot be opened (${code})`, 'Check the path and its permissions.', cause)
  }
  try {
    const problem = describeAccess(fstatSync(descriptor))
    if (problem !== undefined) throw fail(problem.what, problem.hint)
    const bytes = Buffer.alloc(MAX_BYTES + 1)
    const length = readSync(descriptor, bytes, 0, bytes.length, 0)
    const text = bytes.toString('utf8', 0, length).replace(/\r?\n$/, '')
    bytes.fill(0)
    if (length > MAX_BYTES) throw fail('is too long', 'Write only the PIN into it.')
    if (text === '') throw fail('is empty', 'Write the PIN into it.')
    return text
  } finally {
    closeSync(descriptor)
  }
}

function describeAccess(stats: Stats): { what: string; hint: string } | undefined {
  if (!stats.isFile())
    return { what: 'is not a regular file', hint: 'Use a file that contains only the PIN.' }
  if (process.platform === 'win32') return undefined
  if (stats.uid !== process.getuid?.()) {
    return { what: 'belongs to another user', hint: 'Use a file that you own.' }
  }
  if ((stats.mode & ACCESSIBLE_TO_OTHERS) !== 0) {
    return { what: 'is accessible to other users', hint: 'Restrict its mode with chmod 600.' }
  }
  return undefined
}
