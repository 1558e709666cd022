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

export interface WriteOptions {
  /** The refresh token that the entry must still have; with another, somebody else has refreshed. */
  readonly expected: OidcTokens
  readonly longestWaitMs?: number
}

/**
 * Writes the tokens of a login into the user entry of a kubeconfig, and nothing else.
 *
 * Under kubectl's lock the file is read again, so that what others wrote meanwhile stays. A symbolic link
 * stays one: the file it leads to is replaced.
 *
 * @throws {Error} With a message for people; the file is as it was.
 */
export async function writeTokens(
  { file, user }: { readonly file: string; readonly user: string },
  tokens: OidcTokens,
  { expected, longestWaitMs }: WriteOptions,
): Promise<'saved' | 'changed'> {
  const real = await realpath(file)
  // kubectl locks the name it was given, others may know the file by its own.
  const work = async (): Promise<'saved' | 'changed'> => {
    const text = decode(await readBoundedFile(real, { mostBytes: MAX_KUBECONFIG_BYTES }))
    const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
    const body = text.slice(mark.length)
    const provider = parseKubeconfigText(body, file).users.get(user)?.authProvider
    const found = provider?.config.get('refresh-token')?.expose()
    if (provider?.name !== 'oidc' || found !== expected.refreshToken?.expose()) return 'changed'
    const path = ['users', { named: user }, 'user', 'auth-provider', 'config']
    await replaceFile(real, mark + editYaml(body, path, valuesOf(tokens)))
    return 'saved'
  }
  return withLocks([file, real], work, longestWaitMs)
}

function valuesOf({ idToken, refreshToken }: OidcTokens): Record<string, string> {
  return {
    ...(idToken && { 'id-token': idToken.expose() }),
    ...(refreshToken && { 'refresh-token': refreshToken.expose() }),
  }
}

/** Anything but UTF-8 would come out as something else. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Error('the file is not UTF-8 text')
  }
}

/** How long another writer is waited for; kubectl does not wait at all. */
const LONGEST_WAIT_MS = 10_000
const LOOK_AGAIN_MS = 50

/**
 * Holds the lock of each file while `work` runs: `<file>.lock`, created exclusively, as kubectl does.
 *
 * A lock that a killed program left behind is not guessed at: it could be a writer's on another machine.
 *
 * @throws {Error} Names the lock file that did not go away.
 */
export async function withLocks<T>(
  files: readonly string[],
  work: () => Promise<T>,
  longestWaitMs = LONGEST_WAIT_MS,
): Promise<T> {
  const held: string[] = []
  try {
    // Sorted, so that two writers of the same files cannot wait for each other.
    for (const file of [...new Set(files)].sort()) {
      const lock = `${file}.lock`
      await create(lock, longestWaitMs)
      held.push(lock)
    }
    return await work()
  } finally {
    for (const lock of held) await rm(lock, { force: true })
  }
}

async function create(lock: string, longestWaitMs: number): Promise<void> {
  const end = performance.now() + longestWaitMs
  for (;;) {
    try {
      await (await open(lock, 'wx', 0o600)).close()
      return
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
    }
    if (performance.now() >= end) {
      throw new Error(
        `the lock file ${JSON.stringify(lock)} has been there for ${Math.round(longestWaitMs / 1000)} s; ` +
          'remove it if no program is writing the kubeconfig',
      )
    }
    await sleep(LOOK_AGAIN_MS)
  }
}

/**
 * Replaces the content of a file as a whole: whoever reads it, and whenever we are killed, finds the old or the new.
 *
 * Mode and owner stay. The new file is nobody else's before it has its content.
 *
 * @param path Not a symbolic link: that would be replaced, and not what it leads to.
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

/** What the mode grants a group was meant for the old one: without it, only the owner's part is kept. */
async function keepOwner(file: FileHandle, old: Stats): Promise<boolean> {
  const made = await file.stat()
  if (made.uid === old.uid && made.gid === old.gid) return true
  return file.chown(old.uid, old.gid).then(
    () => true,
    () => false,
  )
}

/** The rename itself must reach the disk; not every system lets a folder be opened for that. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close()
}
