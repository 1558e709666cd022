import { constants, type FileHandle, lstat, open } from 'node:fs/promises'
import { join } from 'node:path'
import { PolicyInvalidError } from '../errors/index.ts'
import type { Environment } from '../formats/plain-object.ts'
import { ALLOW_ALL, type PluginPolicy } from '../plugin/plugin-policy.ts'

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
    const text = await readTrusted(path)
    const { parseKuberc } = await import('../plugin/kuberc.ts')
    return parseKuberc(text, path)
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

export interface PolicyPlace {
  /** The file named by a flag or option; it must exist. */
  readonly kuberc?: string | undefined
  readonly env: Environment
  readonly home: string
}

/**
 * Where the plugin policy is read from; undefined when somebody switched the file off.
 *
 * Apart from the reader, because a program that must start fast asks only whether there is a file.
 *
 * @throws {PolicyInvalidError}
 */
export function findKuberc({
  kuberc,
  env,
  home,
}: PolicyPlace): { path: string; isNamed: boolean } | undefined {
  const fromEnv = env['KUBERC'] || undefined
  if (fromEnv === 'off') {
    if (kuberc === undefined) return undefined
    throw new PolicyInvalidError('a kuberc file is given while KUBERC=off says to use none', {
      hint: 'Unset KUBERC, or leave --kuberc out.',
    })
  }
  const named = kuberc ?? fromEnv
  if (named !== undefined) return { path: named, isNamed: true }
  if (env['KUBECTL_KUBERC'] === 'false') return undefined
  return { path: join(home, '.kube', 'kuberc'), isNamed: false }
}
