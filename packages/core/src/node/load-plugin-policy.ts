import { constants, type FileHandle, lstat, open } from 'node:fs/promises'
import { join } from 'node:path'
import { PolicyInvalidError } from '../errors/index.ts'
import type { Environment } from '../formats/plain-object.ts'
import { ALLOW_ALL, type PluginPolicy } from '../plugin/plugin-policy.ts'
import { withSystemNames } from './environment.ts'

const OTHERS_WRITE = 0o022
/** Larger than any kuberc file. */
const MAX_BYTES = 1024 * 1024

/**
 * Loads the plugin policy from kubectl's preferences: the option, `KUBERC`, or `~/.kube/kuberc`.
 *
 * The file must belong to the current user or root and not be writable by others: a policy that another user could have
 * written protects nothing. If it cannot be used, no plugin runs.
 *
 * @throws {PolicyInvalidError} `ERR_POLICY_INVALID`
 */
export async function loadPluginPolicy(lookup: PolicyLookup): Promise<PluginPolicy> {
  const file = findKuberc(lookup)
  if (file === undefined) return ALLOW_ALL
  const { path, isNamed } = file
  try {
    const text = await readTrusted(path)
    const { parseKuberc } = await import('../plugin/kuberc.ts')
    return parseKuberc(text, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !isNamed && !(await exists(path))) return ALLOW_ALL
    if (error instanceof PolicyInvalidError) throw error
    throw refuse(
      path,
      code === 'ENOENT' ? 'it does not exist' : `it cannot be read (${code})`,
      error,
    )
  }
}

/** Checks and reads through one file handle: the path could be replaced between the two. */
async function readTrusted(path: string): Promise<string> {
  // Without O_NONBLOCK, opening a named pipe blocks until a writer opens it.
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
  if (facts.size > MAX_BYTES) throw refuse(path, `it has more than ${MAX_BYTES} bytes`)
  const { uid, mode } = facts
  const us = process.getuid?.()
  if (us === undefined) return
  if (uid !== us && uid !== 0) throw refuse(path, 'it belongs to another user')
  if ((mode & OTHERS_WRITE) !== 0) throw refuse(path, 'it is writable by other users')
}

/** Whether the path exists, also as a dangling symbolic link: its target may have been a policy. */
async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function refuse(path: string, reason: string, cause?: unknown): PolicyInvalidError {
  return new PolicyInvalidError(`plugin policy ${JSON.stringify(path)} cannot be used: ${reason}`, {
    hint: `Fix the file (chown it to yourself, chmod 600 ${JSON.stringify(path)}); until then no plugin runs.`,
    cause,
  })
}

/** Where to look for the plugin policy. */
export interface PolicyLookup {
  /** The file of the option `kuberc`; it must exist. */
  readonly kuberc?: string | undefined
  readonly env: Environment
  readonly home: string
}

/**
 * Returns the path of the plugin policy; undefined if the environment disables it.
 *
 * Separate from the loader, because a program that must start fast only needs to know whether there is a file.
 *
 * @throws {PolicyInvalidError} `ERR_POLICY_INVALID`: a file is given although KUBERC=off.
 */
export function findKuberc({
  kuberc,
  env,
  home,
}: PolicyLookup): { path: string; isNamed: boolean } | undefined {
  const { KUBERC, KUBECTL_KUBERC } = withSystemNames(env)
  const fromEnv = KUBERC || undefined
  if (fromEnv === 'off') {
    if (kuberc === undefined) return undefined
    throw new PolicyInvalidError('a kuberc file is given although KUBERC=off disables it', {
      hint: 'Unset KUBERC, or give no kuberc file (--kuberc).',
    })
  }
  const named = kuberc ?? fromEnv
  if (named !== undefined) return { path: named, isNamed: true }
  if (KUBECTL_KUBERC === 'false') return undefined
  return { path: join(home, '.kube', 'kuberc'), isNamed: false }
}
