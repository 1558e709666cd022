import { readFileSync } from 'node:fs'
import process from 'node:process'

/** A process by ID and start time, because the kernel reuses IDs. */
export interface ProcessId {
  readonly pid: number
  /** In clock ticks since boot; undefined where the system does not show it. */
  readonly startedAt?: number | undefined
}

/** Returns a process ID with its start time from /proc, because the kernel reuses process IDs. */
export function identifyProcess(pid: number): ProcessId {
  const startedAt = startTime(pid)
  return { pid, ...(startedAt !== undefined && { startedAt }) }
}

/** Whether this process still runs, and its ID was not reused by another one. */
export function isRunning({ pid, startedAt }: ProcessId): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Any other error but EPERM means that it cannot be the ID of a process.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = startTime(pid)
  return startedAt === undefined || now === undefined || now === startedAt
}

/** Reads the 22nd field of /proc/PID/stat. The second is a name in parentheses that may contain any character. */
function startTime(pid: number): number | undefined {
  try {
    // On Windows other users can create such a file.
    if (process.platform === 'win32') return undefined
    // Only the name can contain bytes that are not UTF-8. Node reads this encoding much faster than others.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const time = Number(fields[19])
    return Number.isFinite(time) ? time : undefined
  } catch {
    return undefined
  }
}
