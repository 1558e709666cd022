import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { editYaml } from '../formats/edit-yaml.ts'
import { parseKubeconfigText } from '../kubeconfig/parse-kubeconfig.ts'
import type { OidcTokens } from '../ports/oidc.ts'
import { MAX_KUBECONFIG_BYTES } from './load-kubeconfig.ts'
import { readBoundedFile } from './node-files.ts'

const BYTE_ORDER_MARK = '\u{feff}'

/** Options of {@link writeTokens}. */
export interface WriteOptions {
  /** The tokens of the entry before the refresh; with another refresh token, another program has refreshed. */
  readonly expected: OidcTokens
  /** How long to wait for the lock. */
  readonly maxWaitMs?: number
}

/**
 * Writes the tokens of a login into the user entry of a kubeconfig, and nothing else.
 *
 * The file is read again under kubectl's lock, so that changes of other programs are kept. A symbolic link is kept: its
 * target is replaced.
 *
 * @returns `changed` if the entry has other tokens than expected; then nothing is written.
 * @throws {Error} With a message for users; the file is unchanged.
 */
export async function writeTokens(
  { file, user }: { readonly file: string; readonly user: string },
  tokens: OidcTokens,
  { expected, maxWaitMs }: WriteOptions,
): Promise<'saved' | 'changed'> {
  const real = await realpath(file)
  // Both the given path and the real path are locked: kubectl locks the path that it was given.
  const save = async (): Promise<'saved' | 'changed'> => {
    const text = decode(await readBoundedFile(real, { maxBytes: MAX_KUBECONFIG_BYTES }))
    const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
    const body = text.slice(mark.length)
    const provider = parseKubeconfigText(body, file).users.get(user)?.authProvider
    const found = provider?.config.get('refresh-token')?.expose()
    if (provider?.name !== 'oidc' || found !== expected.refreshToken?.expose()) return 'changed'
    const path = ['users', { named: user }, 'user', 'auth-provider', 'config']
    await replaceFile(real, mark + editYaml(body, path, valuesOf(tokens)))
    return 'saved'
  }
  return withLocks([file, real], save, maxWaitMs)
}

function valuesOf({ idToken, refreshToken }: OidcTokens): Record<string, string> {
  return {
    ...(idToken && { 'id-token': idToken.expose() }),
    ...(refreshToken && { 'refresh-token': refreshToken.expose() }),
  }
}

/** Rejects anything but UTF-8, which would be corrupted when it is written back. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Error('the file is not UTF-8 text')
  }
}

/** How long to wait for another writer; kubectl does not wait at all. */
const MAX_WAIT_MS = 10_000
const RETRY_MS = 50

/**
 * Holds the lock of each file while `work` runs: `<file>.lock`, created exclusively, as kubectl does.
 *
 * A stale lock is never removed: it could belong to a writer on another machine.
 *
 * @throws {Error} The lock file was not removed in time.
 */
export async function withLocks<T>(
  files: readonly string[],
  work: () => Promise<T>,
  maxWaitMs = MAX_WAIT_MS,
): Promise<T> {
  const held: string[] = []
  try {
    // Sorted, so that two writers of the same files cannot wait for each other.
    for (const file of [...new Set(files)].sort()) {
      const lock = `${file}.lock`
      await createLock(lock, maxWaitMs)
      held.push(lock)
    }
    return await work()
  } finally {
    for (const lock of held) await rm(lock, { force: true })
  }
}

async function createLock(lock: string, maxWaitMs: number): Promise<void> {
  const end = performance.now() + maxWaitMs
  for (;;) {
    try {
      await (await open(lock, 'wx', 0o600)).close()
      return
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
    }
    if (performance.now() >= end) {
      throw new Error(
        `the lock file ${JSON.stringify(lock)} has existed for ${Math.round(maxWaitMs / 1000)} s; ` +
          'remove it if no program is writing the kubeconfig',
      )
    }
    await sleep(RETRY_MS)
  }
}

/**
 * Replaces the content of a file atomically: readers see the old or the new content, even if this process is killed.
 *
 * Mode and owner are kept. The new file is private until its content is written.
 *
 * @param path Not a symbolic link: the link would be replaced, and not its target.
 */
export async function replaceFile(path: string, content: string): Promise<void> {
  const old = await stat(path)
  const name = `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`
  const temporary = join(dirname(path), name)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.chmod((await keepOwner(file, old)) ? old.mode & 0o777 : old.mode & 0o700)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}

/**
 * Gives the file the owner and group of the old one.
 *
 * @returns Whether that worked. If not, only the owner's permissions may be kept: the others are for another group.
 */
async function keepOwner(file: FileHandle, old: Stats): Promise<boolean> {
  const made = await file.stat()
  if (made.uid === old.uid && made.gid === old.gid) return true
  return file.chown(old.uid, old.gid).then(
    () => true,
    () => false,
  )
}

/** Flushes the rename to disk; some platforms cannot open a folder for that, which is ignored. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close()
}
