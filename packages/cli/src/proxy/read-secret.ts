import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import process from 'node:process'
import { ownerFault } from 'kubecred/internal'
import type { FlagName } from '../flags/flag-table.ts'
import { UsageError } from '../usage-error.ts'

/** Long enough not to be guessed, and valid in a header and in a URL without encoding. */
const SECRET_PATTERN = /^[A-Za-z0-9._~-]{20,200}$/
const MAX_BYTES = 1024
const GROUP_WRITE_AND_OTHERS = 0o027

/**
 * Reads the secrets of the proxy: one, or two while clients change from the old one to the new one, on two lines.
 *
 * @throws {UsageError} If the file cannot be used; the message names the flag and the reason, never the content.
 */
export function readSecrets(path: string, flag: FlagName): readonly [string, ...string[]] {
  const [first = '', ...others] = read(path, flag)
    .trim()
    .split(/\s*\n\s*/)
  if (others.length > 1) throw problem(path, flag, 'it has more than two lines')
  for (const secret of [first, ...others]) {
    if (!SECRET_PATTERN.test(secret)) throw problem(path, flag, RULE)
  }
  return [first, ...others]
}

const RULE = 'a secret must be 20 to 200 letters, digits or any of "-._~"'

/**
 * Reads a secret from a file that only the user can read.
 *
 * @throws {UsageError} If the file cannot be used; the message names the flag and the reason, never the content.
 */
export function readSecret(path: string, flag: FlagName): string {
  const text = read(path, flag).trim()
  if (SECRET_PATTERN.test(text)) return text
  throw problem(path, flag, RULE)
}

function read(path: string, flag: FlagName): string {
  let descriptor: number | undefined
  try {
    // Without O_NONBLOCK, opening a named pipe blocks until it has a writer.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const facts = fstatSync(descriptor)
    if (!facts.isFile()) throw problem(path, flag, 'it is not a file')
    const fault = isMounted(facts) ? undefined : ownerFault(facts)
    if (fault !== undefined) throw problem(path, flag, `${fault}; make it private with chmod 600`)
    if (facts.size > MAX_BYTES) throw problem(path, flag, 'it is too large')
    return readFileSync(descriptor, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw problem(
      path,
      flag,
      code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`,
    )
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Whether the file is a Secret volume of Kubernetes: owned by root, and readable by the group of the container. */
function isMounted({ uid, mode }: Stats): boolean {
  return uid === 0 && process.getuid?.() !== 0 && (mode & GROUP_WRITE_AND_OTHERS) === 0
}

function problem(path: string, flag: FlagName, reason: string): UsageError {
  return new UsageError(`the file ${JSON.stringify(path)} of --${flag} cannot be used: ${reason}`)
}
