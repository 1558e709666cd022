import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

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
    for (const each of descendants) if (isStillRunning(each)) send(each.pid, 'SIGKILL')
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
  if (process.platform === 'win32') child.kill(signal)
  else if (isGroup) send(-pid, signal)
  else {
    for (const each of descendantsOf(pid)) send(each.pid, signal)
    // After its exit, the PID may belong to another process.
    if (child.exitCode === null && child.signalCode === null) send(pid, signal)
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Already gone.
  }
}

/** A process; its start time distinguishes it from a later one with the same PID. */
interface Descendant {
  readonly pid: number
  readonly startedAt: string | undefined
}

/** Returns descendants before their parents, so that none is reparented before it is signalled. Empty without /proc. */
function descendantsOf(root: number): Descendant[] {
  const childrenOf = new Map<number, Descendant[]>()
  for (const pid of listProcesses()) {
    const facts = readStat(pid)
    if (facts === undefined) continue
    const siblings = childrenOf.get(facts.parent) ?? []
    childrenOf.set(facts.parent, [...siblings, { pid, startedAt: facts.startedAt }])
  }
  const collect = (pid: number): Descendant[] =>
    (childrenOf.get(pid) ?? []).flatMap((child) => [...collect(child.pid), child])
  return collect(root)
}

function isStillRunning({ pid, startedAt }: Descendant): boolean {
  return readStat(pid)?.startedAt === startedAt
}

function listProcesses(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

function readStat(pid: number): { parent: number; startedAt: string | undefined } | undefined {
  try {
    // The name in parentheses may contain spaces and parentheses, so the fields start after the last one.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(fields[1]), startedAt: fields[19] }
  } catch {
    return undefined
  }
}
