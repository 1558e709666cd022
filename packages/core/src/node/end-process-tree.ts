import { type ChildProcess, spawnSync } from 'node:child_process'
import { listProcesses, type ProcessFacts } from './process-table.ts'
import { systemProgram } from './spawn-program.ts'

/** How long a process may take to exit after SIGTERM before it gets SIGKILL. */
const GRACE_MS = 2000

/**
 * Ends a child and its descendants: SIGTERM, a pause, SIGKILL. Returns a function that skips the rest of the pause.
 *
 * A child with its own process group is ended with the group. A child on our terminal is in our group, so its
 * descendants are looked up and ended one by one. They are looked up at the start, because processes get another parent
 * when theirs exits.
 */
export function endProcessTree(child: ChildProcess, { isGroup }: { isGroup: boolean }): () => void {
  const { pid } = child
  const descendants = isGroup || pid === undefined ? [] : descendantsOf(pid)
  killTree(child, 'SIGTERM', isGroup)
  const kill = (): void => {
    killTree(child, 'SIGKILL', isGroup)
    for (const each of stillRunning(descendants)) send(each.pid, 'SIGKILL')
  }
  const timer = setTimeout(kill, GRACE_MS)
  return () => {
    clearTimeout(timer)
    kill()
  }
}

/** Sends a signal to a child and its descendants. */
export function killTree(child: ChildProcess, signal: NodeJS.Signals, isGroup: boolean): void {
  const { pid } = child
  if (pid === undefined) return
  if (process.platform === 'win32') endWindowsTree(child, pid)
  else if (isGroup) send(-pid, signal)
  // After its exit, the PID may belong to another process, and its descendants have another parent.
  else if (child.exitCode === null && child.signalCode === null) {
    for (const each of descendantsOf(pid)) send(each.pid, signal)
    send(pid, signal)
  }
}

/** How long taskkill may take. */
const TASKKILL_MS = 5000

/**
 * Ends a process and its descendants on Windows, where there are no signals to ask them to exit.
 *
 * Synchronous, because it is also used when this process exits. The descendants of a process that has ended cannot be
 * found.
 */
function endWindowsTree(child: ChildProcess, pid: number): void {
  // After its exit, the PID may belong to another process.
  if (child.exitCode !== null || child.signalCode !== null) return
  spawnSync(systemProgram('taskkill.exe'), ['/T', '/F', '/PID', String(pid)], {
    stdio: 'ignore',
    timeout: TASKKILL_MS,
    windowsHide: true,
  })
  child.kill('SIGKILL')
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Already gone.
  }
}

/** Returns descendants before their parents, so that none is reparented before it is signalled. */
function descendantsOf(root: number): ProcessFacts[] {
  const childrenOf = new Map<number, ProcessFacts[]>()
  for (const each of listProcesses()) {
    const siblings = childrenOf.get(each.parent) ?? []
    siblings.push(each)
    childrenOf.set(each.parent, siblings)
  }
  const collect = (pid: number): ProcessFacts[] =>
    (childrenOf.get(pid) ?? []).flatMap((child) => [...collect(child.pid), child])
  return collect(root)
}

/** Returns those of the given processes that have not ended. Another process may have got their PID. */
function stillRunning(known: readonly ProcessFacts[]): readonly ProcessFacts[] {
  if (known.length === 0) return []
  const startTimes = new Map(listProcesses().map(({ pid, startedAt }) => [pid, startedAt]))
  return known.filter(({ pid, startedAt }) => startTimes.get(pid) === startedAt)
}
