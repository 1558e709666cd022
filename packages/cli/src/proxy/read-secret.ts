import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import process from 'node:process'
import type { FlagName } from '../flags/flag-table.ts'
import { ownerFault } from '../run/private-folder.ts'
import { UsageError } from '../usage-error.ts'

/** What is too long to guess, and can stand in a header and in an address as it is. */
const GOOD_SECRET = /^[A-Za-z0-9._~-]{20,200}$/
const MOST_BYTES = 1024
const GROUP_WRITE_AND_OTHERS = 0o027

/**
 * Reads a secret from a file that nobody else can read.
 *
 * @throws {UsageError} Names the flag and what is wrong with the file, never what is in it.
 */
export function readSecret(path: string, flag: FlagName): string {
  const text = read(path, flag).trim()
  if (GOOD_SECRET.test(text)) return text
  throw problem(path, flag, 'a secret is 20 to 200 letters, digits or any of "-._~"')
}

function read(path: string, flag: FlagName): string {
  let descriptor: number | undefined
  try {
    // Without O_NONBLOCK, opening a named pipe waits for its writer, maybe for ever.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const facts = fstatSync(descriptor)
    if (!facts.isFile()) throw problem(path, flag, 'it is not a file')
    const fault = isMounted(facts) ? undefined : ownerFault(facts)
    if (fault !== undefined) throw problem(path, flag, `${fault}; chmod 600 makes it yours alone`)
    if (facts.size > MOST_BYTES) throw problem(path, flag, 'it is too large')
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

/** As Kubernetes mounts a Secret for a container: root's, and readable for a group that only the container is in. */
function isMounted({ uid, mode }: Stats): boolean {
  return uid === 0 && process.getuid?.() !== 0 && (mode & GROUP_WRITE_AND_OTHERS) === 0
}

function problem(path: string, flag: FlagName, reason: string): UsageError {
  return new UsageError(`the file ${JSON.stringify(path)} of --${flag} cannot be used: ${reason}`)
}
