import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import process from 'node:process'

/** A process. Its start time distinguishes it from a later one with the same PID. */
export interface ProcessFacts {
  readonly pid: number
  readonly parent: number
  readonly startedAt: string | undefined
}

/** Lists all processes that this user may see: from /proc on Linux, from `ps` on macOS and the BSDs. */
export function listProcesses(): readonly ProcessFacts[] {
  // Windows has neither.
  if (process.platform === 'win32') return []
  return process.platform === 'linux' ? readProc() : readPs(runPs())
}

function readProc(): readonly ProcessFacts[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => readStat(Number(name)))
  } catch {
    return []
  }
}

function readStat(pid: number): readonly ProcessFacts[] {
  try {
    // The name in parentheses may contain spaces and parentheses, so the fields start after the last one.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [{ pid, parent: Number(fields[1]), startedAt: fields[19] }]
  } catch {
    // It has ended meanwhile.
    return []
  }
}

const PS_TIMEOUT_MS = 2000
const MAX_PS_BYTES = 8 * 1024 * 1024

/** Runs `ps` synchronously: it is needed while this process exits. Returns an empty text if it fails. */
export function runPs(): string {
  const { stdout } = spawnSync('/bin/ps', ['-axo', 'pid=,ppid=,lstart='], {
    encoding: 'utf8',
    // Names of days and months without translation, and no option of `ps` from the user.
    env: { LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: PS_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_PS_BYTES,
  })
  // Null if it could not be started.
  return stdout ?? ''
}

/** Reads lines such as `  501   1 Tue Nov 17 15:41:58 2026`. Others are skipped. */
export function readPs(text: string): readonly ProcessFacts[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, startedAt] = /^ *(\d+) +(\d+) +(\w.*?) *$/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), startedAt }]
  })
}
