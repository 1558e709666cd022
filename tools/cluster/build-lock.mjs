// A lock that keeps two processes from building the same program. It only saves time: each builds in its own folder and
// moves the finished program in place with one rename, so two holders do no harm.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const LOOK_MS = 1000
/** How long a lock file without a valid pid is respected: its process is writing it, or was killed while writing. */
const WRITING_MS = 5000

/**
 * Acquires the lock, runs `work` and releases the lock.
 *
 * @param {(holder: number) => void} onWait Called once if another process holds the lock.
 */
export async function withBuildLock(path, { onWait }, work) {
  mkdirSync(dirname(path), { recursive: true })
  for (let hasReported = false; !take(path); ) {
    const holder = holderOf(path)
    if (holder === undefined) continue
    if (!hasReported) onWait(holder)
    hasReported = true
    await pause(LOOK_MS)
  }
  try {
    return await work()
  } finally {
    rmSync(path, { force: true })
  }
}

function take(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

/** Returns the process that holds the lock. Removes the lock of a process that no longer runs. */
function holderOf(path) {
  try {
    const pid = Number.parseInt(readFileSync(path, 'utf8'), 10)
    const isNew = Date.now() - statSync(path).mtimeMs < WRITING_MS
    if (Number.isNaN(pid) ? isNew : isAlive(pid)) return pid
    rmSync(path, { force: true })
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  return undefined
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
