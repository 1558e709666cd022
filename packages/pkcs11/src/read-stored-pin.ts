import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { isAbsolute } from 'node:path'
import process from 'node:process'
import { Pin } from './pin.ts'
import type { PinWish } from './pin-wish.ts'
import { TokenError } from './token-error.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Longer is no PIN: PKCS#11 tokens take 255 bytes at most. */
const MOST_BYTES = 1024
const OPEN_TO_OTHERS = 0o077

/** The PIN that somebody has put somewhere for us. Undefined when a person has to be asked. */
export function readStoredPin(
  { value, file, env }: PinWish,
  environment: Environment,
): Pin | undefined {
  if (value !== undefined) return new Pin(value, 'configuration')
  if (file !== undefined) return new Pin(readPinFile(file), 'file')
  const fromEnvironment = environment[env]
  return fromEnvironment ? new Pin(fromEnvironment, 'environment') : undefined
}

/** The line end that editors put behind it is no part of the PIN; blanks may be. */
function readPinFile(path: string): string {
  const refuse = (what: string, hint: string, cause?: unknown): TokenError =>
    new TokenError(`the file with the PIN, ${JSON.stringify(path)}, ${what}`, { hint, cause })
  if (!isAbsolute(path)) throw refuse('is not absolute', 'Begin the path with a slash.')
  let descriptor: number
  try {
    // A named pipe would wait for a writer.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw refuse(`cannot be opened (${code})`, 'Check the path and who may read it.', cause)
  }
  try {
    const problem = describeAccess(fstatSync(descriptor))
    if (problem !== undefined) throw refuse(problem.what, problem.hint)
    const bytes = Buffer.alloc(MOST_BYTES + 1)
    const length = readSync(descriptor, bytes, 0, bytes.length, 0)
    const text = bytes.toString('utf8', 0, length).replace(/\r?\n$/, '')
    bytes.fill(0)
    if (length > MOST_BYTES) throw refuse('is too long', 'Put nothing but the PIN into it.')
    if (text === '') throw refuse('is empty', 'Put the PIN into it.')
    return text
  } finally {
    closeSync(descriptor)
  }
}

function describeAccess(stats: Stats): { what: string; hint: string } | undefined {
  if (!stats.isFile()) return { what: 'is no file', hint: 'Name a file that holds only the PIN.' }
  if (process.platform === 'win32') return undefined
  if (stats.uid !== process.getuid?.()) {
    return { what: 'belongs to somebody else', hint: 'Use a file of your own.' }
  }
  if ((stats.mode & OPEN_TO_OTHERS) !== 0) {
    return { what: 'is open to others', hint: 'Close it: chmod 600 and its path.' }
  }
  return undefined
}
