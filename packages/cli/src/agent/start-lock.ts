import {
  closeSync,
  constants,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { identifyProcess, isRunning, type ProcessId } from 'kubecred/internal'
import { type AgentPaths, makeFolder } from './agent-paths.ts'

/**
 * Takes the lock for starting an agent: its holder starts one, other processes wait for it.
 *
 * The lock file is written under another name and then hard-linked, so that no process reads it half-written. The lock
 * of a dead process is renamed first: of two processes that notice, only one succeeds.
 *
 * @returns The function that releases it, or undefined if another process has it.
 * @throws {AgentUnusableError} If the folder is not safe.
 */
export function takeStartLock(paths: AgentPaths): (() => void) | undefined {
  makeFolder(paths)
  const { folder, lock } = paths
  // Many processes may be waiting: they only read, and write nothing until the lock is free.
  const holder = readHolder(lock)
  if (holder !== undefined && isRunning(holder)) return undefined
  // Only our own processes write to this folder, so the name need not be random.
  const mark = `${process.pid}-${process.hrtime.bigint()}`
  const own = join(folder, `lock-${mark}`)
  try {
    writeFileSync(own, JSON.stringify(identifyProcess(process.pid)), { flag: 'wx', mode: 0o600 })
    if (tryLink(own, lock)) return () => rmSync(lock, { force: true })
    if (!isDead(readHolder(lock))) return undefined
    breakLock(lock, join(folder, `dead-${mark}`))
    return tryLink(own, lock) ? () => rmSync(lock, { force: true }) : undefined
  } finally {
    rmSync(own, { force: true })
  }
}

function tryLink(own: string, lock: string): boolean {
  try {
    linkSync(own, lock)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock of a dead process. If a live process took it in the meantime, the lock is put back. */
function breakLock(lock: string, aside: string): void {
  try {
    renameSync(lock, aside)
  } catch {
    return
  }
  if (!isDead(readHolder(aside))) tryLink(aside, lock)
  // Whatever it is: a folder cannot be linked over either.
  rmSync(aside, { recursive: true, force: true })
}

function isDead(holder: ProcessId | undefined): boolean {
  return holder !== undefined && !isRunning(holder)
}

function readHolder(path: string): ProcessId | undefined {
  try {
    const { pid, startedAt } = JSON.parse(readLock(path)) as Partial<ProcessId>
    // Zero and negative numbers are groups of processes, of which one always runs.
    return Number.isSafeInteger(pid) && Number(pid) > 0 ? { pid: Number(pid), startedAt } : DEAD
  } catch (error) {
    // Removed in the meantime, or not a lock file: no process holds it.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : DEAD
  }
}

/**
 * O_NONBLOCK, because opening a named pipe would otherwise wait for a writer. O_NOFOLLOW, because a link to nothing would
 * seem to be no lock, and yet could not be replaced.
 */
function readLock(path: string): string {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants
  const descriptor = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  try {
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

const DEAD: ProcessId = { pid: 2 ** 22 + 1 }
