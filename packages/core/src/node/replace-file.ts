import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

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
