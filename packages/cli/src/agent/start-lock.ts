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
import { type AgentPlace, makeFolder } from './agent-paths.ts'
import { identifyProcess, isRunning } from './process-id.ts'
import type { ProcessName } from './protocol.ts'

/**
 * Takes the lock for starting an agent: whoever has it starts one, the others wait for it.
 *
 * It is linked into its place with its content already in it, so that nobody ever reads half of it. The lock of
 * a process that has died is moved aside first: of two who notice, only one moves it.
 *
 * @returns How to give it back, or undefined when somebody else has it.
 * @throws {AgentUnusableError}
 */
export function takeStartLock(place: AgentPlace): (() => void) | undefined {
  makeFolder(place)
  const { folder, lock } = place
  // Many may wait for it: those who cannot have it only look.
  const holder = readHolder(lock)
  if (holder !== undefined && isRunning(holder)) return undefined
  // Nobody else writes to this folder, so that a name must only be our own.
  const mark = `${process.pid}-${process.hrtime.bigint()}`
  const own = join(folder, `lock-${mark}`)
  writeFileSync(own, JSON.stringify(identifyProcess(process.pid)), { flag: 'wx', mode: 0o600 })
  try {
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

/** If somebody alive took it between our look and our move, it is put back. */
function breakLock(lock: string, aside: string): void {
  try {
    renameSync(lock, aside)
  } catch {
    return
  }
  if (!isDead(readHolder(aside))) tryLink(aside, lock)
  rmSync(aside, { force: true })
}

function isDead(holder: ProcessName | undefined): boolean {
  return holder !== undefined && !isRunning(holder)
}

function readHolder(path: string): ProcessName | undefined {
  try {
    const { pid, startedAt } = JSON.parse(readLock(path)) as Partial<ProcessName>
    return typeof pid === 'number' ? { pid, startedAt } : DEAD
  } catch (error) {
    // Gone already, or not a lock of ours: nobody holds that.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : DEAD
  }
}

/** Without O_NONBLOCK, opening a named pipe waits for its writer, maybe for ever. */
function readLock(path: string): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

const DEAD: ProcessName = { pid: 2 ** 22 + 1 }
