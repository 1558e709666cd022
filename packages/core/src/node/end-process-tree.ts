import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** How long a process may take to end after TERM before it is killed. */
const GRACE_MS = 2000

/**
 * Ends a child and its descendants: TERM, a pause, KILL. Returns how to leave the rest of the pause out.
 *
 * A child in a group of its own is ended with the group. One that shares our terminal shares our group
 * too, so its descendants are looked up and ended one by one: now, because those of a dead parent
 * belong to somebody else.
 */
export function endProcessTree(child: ChildProcess, { isGroup }: { isGroup: boolean }): () => void {
  const { pid } = child
  const descendants = isGroup || pid === undefined ? [] : descendantsOf(pid)
  killTree(child, 'SIGTERM', isGroup)
  const kill = (): void => {
    killTree(child, 'SIGKILL', isGroup)
    for (const each of descendants) if (isStillThere(each)) send(each.pid, 'SIGKILL')
  }
  const timer = setTimeout(kill, GRACE_MS)
  return () => {
    clearTimeout(timer)
    kill()
  }
}

export function killTree(child: ChildProcess, signal: NodeJS.Signals, isGroup: boolean): void {
  const { pid } = child
  if (pid === undefined) return
  if (process.platform === 'win32') child.kill(signal)
  else if (isGroup) send(-pid, signal)
  else {
    for (const each of descendantsOf(pid)) send(each.pid, signal)
    // Once it was waited for, its number may be another process's.
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

/** A process, told from a later one with the same number by the time it began. */
interface Descendant {
  readonly pid: number
  readonly startedAt: string | undefined
}

/** Children of children first, so that nobody is adopted before it is reached. Empty where there is no /proc. */
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

function isStillThere({ pid, startedAt }: Descendant): boolean {
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
    // The name in parentheses may hold anything, also spaces and parentheses: read after the last one.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(fields[1]), startedAt: fields[19] }
  } catch {
    return undefined
  }
}
