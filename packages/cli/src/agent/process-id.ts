import { readFileSync } from 'node:fs'
import type { ProcessName } from './protocol.ts'

/** A process so that it cannot be taken for a later one with the same number, where /proc tells. */
export function identifyProcess(pid: number): ProcessName {
  const startedAt = startTime(pid)
  return { pid, ...(startedAt !== undefined && { startedAt }) }
}

/** Whether it still runs: the same, and not another with its number. */
export function isRunning({ pid, startedAt }: ProcessName): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const now = startTime(pid)
  return startedAt === undefined || now === undefined || now === startedAt
}

/** The 22nd field of /proc/PID/stat. The second is a name in brackets that may hold anything, brackets too. */
function startTime(pid: number): number | undefined {
  try {
    // What is no UTF-8 can stand in the name only. Node reads this encoding much faster than others.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const time = Number(fields[19])
    return Number.isFinite(time) ? time : undefined
  } catch {
    return undefined
  }
}
