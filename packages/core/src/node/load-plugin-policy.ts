import { constants, type FileHandle, lstat, open } from 'node:fs/promises'
import { PolicyInvalidError } from '../errors/index.ts'
import { parseKuberc } from '../protocol/kuberc.ts'
import { ALLOW_ALL, type PluginPolicy } from '../protocol/plugin-policy.ts'
import { findKuberc, type PolicyPlace } from './find-kuberc.ts'

export type { PolicyPlace }

const OTHERS_WRITE = 0o022
/** Larger than any preferences. */
const MOST_BYTES = 1024 * 1024

/**
 * Loads the plugin policy from kubectl's preferences: flag, `KUBERC`, or `~/.kube/kuberc`.
 *
 * A policy file that somebody else could have written is no policy, so it must belong to us or to root
 * and be writable by nobody else. Whatever is wrong with it, no plugin runs.
 *
 * @throws {PolicyInvalidError}
 */
export async function loadPluginPolicy(place: PolicyPlace): Promise<PluginPolicy> {
  const file = findKuberc(place)
  if (file === undefined) return ALLOW_ALL
  const { path, isNamed } = file
  try {
    return parseKuberc(await readTrusted(path), path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !isNamed && !(await isThere(path))) return ALLOW_ALL
    if (error instanceof PolicyInvalidError) throw error
    throw refuse(
      path,
      code === 'ENOENT' ? 'it does not exist' : `it cannot be read (${code})`,
      error,
    )
  }
}

/** Reads what was checked: between a look at the path and another one it could be exchanged. */
async function readTrusted(path: string): Promise<string> {
  // Without O_NONBLOCK, opening a named pipe waits for its writer, maybe for ever.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    await checkFile(file, path)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

async function checkFile(file: FileHandle, path: string): Promise<void> {
  const facts = await file.stat()
  if (!facts.isFile()) throw refuse(path, 'it is not a regular file')
  if (facts.size > MOST_BYTES) throw refuse(path, `it has more than ${MOST_BYTES} bytes`)
  const { uid, mode } = facts
  const us = process.getuid?.()
  if (us === undefined) return
  if (uid !== us && uid !== 0) throw refuse(path, 'it belongs to another user')
  if ((mode & OTHERS_WRITE) !== 0) throw refuse(path, 'others than its owner may write it')
}

/** A link that leads nowhere was once a policy. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function refuse(path: string, reason: string, cause?: unknown): PolicyInvalidError {
  return new PolicyInvalidError(`plugin policy ${JSON.stringify(path)} is not used: ${reason}`, {
    hint: `Correct it (chown to yourself, chmod 600 ${JSON.stringify(path)}); until then no credential plugin runs.`,
    cause,
  })
}
