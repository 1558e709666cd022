// Keeps two builders from doing the same work. It only saves time: each builds in a folder of its own and puts a finished
// program in place with one rename, so nothing breaks when two of them think that they hold it.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const LOOK_MS = 1000
/** A file without a readable number is of somebody who is just writing it, or was killed while doing so. */
const WRITING_MS = 5000

/**
 * Waits until nobody else holds the lock, takes it, does the work and gives it back.
 *
 * @param {(holder: number) => void} onWait Called once, if somebody else holds it.
 */
export async function withBuildLock(path, { onWait }, work) {
  mkdirSync(dirname(path), { recursive: true })
  for (let told = false; !take(path); ) {
    const holder = holderOf(path)
    if (holder === undefined) continue
    if (!told) onWait(holder)
    told = true
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

/** The process that holds the lock; a lock whose holder is gone is removed. */
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
