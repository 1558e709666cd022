import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { Environment } from 'kubecred/internal'
import { identifyProcess, isRunning } from '../agent/process-id.ts'
import { UsageError } from '../usage-error.ts'
import { findFault, ownerFault } from './private-folder.ts'

/** A folder of this process, which only its user may look into. */
export interface ProcessFolder {
  readonly path: string
  /** Removes it with all that is in it. */
  remove(): void
}

/**
 * Makes a folder for this process, and removes those of processes that could not do so themselves.
 *
 * Its name says whose it is: kind, number of the process, when that began, and in which container. So nothing
 * has to be read to know whether it is still needed.
 *
 * @throws {UsageError} Says which folder cannot be used, and why.
 */
export function makeProcessFolder(kind: 'run' | 'proxy', env: Environment): ProcessFolder {
  const base = chooseBase(env)
  removeForsaken(base)
  const { pid, startedAt = 0 } = identifyProcess(process.pid)
  const path = mkdtempSync(join(base, `${kind}-${pid}-${startedAt}-${pidNamespace()}-`))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** In XDG_RUNTIME_DIR, which is gone after the last logout, else among the temporary folders. */
function chooseBase(env: Environment): string {
  const runtime = env['XDG_RUNTIME_DIR']
  const user = process.getuid?.() ?? 'user'
  const candidates = [
    ...(runtime?.startsWith('/') ? [join(runtime, 'kubecred')] : []),
    join(env['TMPDIR'] || tmpdir(), `kubecred-${user}`),
  ]
  const faults: string[] = []
  for (const folder of candidates) {
    const fault = makeBase(folder)
    if (fault === undefined) return folder
    faults.push(`${folder}: ${fault}`)
  }
  throw new UsageError(
    `there is no folder that only you can use (${faults.join('; ')}); set XDG_RUNTIME_DIR to one of your own`,
  )
}

function makeBase(folder: string): string | undefined {
  try {
    const fault = findFault(folder)
    if (fault !== undefined) return fault
    mkdirSync(folder, { mode: 0o700 })
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // It is there, and somebody may have been faster to make it: look again.
    return code === 'EEXIST' ? findFault(folder) : `it cannot be used (${code})`
  }
}

const NAME = /^(?:run|proxy)-(\d+)-(\d+)-(\d+)-\w+$/

/** Links are not followed, here and below: only what is in our own folder goes. */
function removeForsaken(base: string): void {
  for (const name of readdirSync(base)) {
    const [, pid, startedAt, space] = NAME.exec(name) ?? []
    // The number of a process means nothing in another container that shares the folder.
    if (pid === undefined || space !== String(pidNamespace())) continue
    const start = Number(startedAt)
    if (isRunning({ pid: Number(pid), ...(start !== 0 && { startedAt: start }) })) continue
    const path = join(base, name)
    const facts = lstatSync(path, { throwIfNoEntry: false })
    if (facts?.isDirectory() !== true || ownerFault(facts) !== undefined) continue
    // Somebody else may be removing it as well.
    rmSync(path, { recursive: true, force: true })
  }
}

/** The number of the name space in which processes are counted here; 0 where there is no such thing. */
export function pidNamespace(): number {
  try {
    return Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? 0)
  } catch {
    return 0
  }
}
