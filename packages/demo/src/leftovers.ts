import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { identifyProcess, isRunning, pidNamespace } from '@kubecred/cli/internal'

const FOLDERS = 'kubecred-sandbox-'
const MARK = 'demo.json'

/** Whose a folder is: a process, so that it cannot be taken for a later one with the same number. */
interface Owner extends ReturnType<typeof identifyProcess> {
  /** Where its number is counted: it means nothing in another container that shares the folder. */
  readonly space: number
}

/** Says in a folder that it belongs to this process, for demos to come. */
export function markFolder(folder: string): void {
  const owner: Owner = { ...identifyProcess(process.pid), space: pidNamespace() }
  writeFileSync(join(folder, MARK), JSON.stringify(owner), { mode: 0o600 })
}

/**
 * Removes what demos left that were killed: they had no chance to do it.
 *
 * @returns How many folders that were.
 */
export function removeLeftovers(parent = tmpdir()): number {
  let removed = 0
  for (const name of list(parent)) {
    const folder = join(parent, name)
    if (!name.startsWith(FOLDERS) || !isOurs(folder)) continue
    const owner = readOwner(folder)
    if (owner?.space !== pidNamespace() || isRunning(owner)) continue
    try {
      rmSync(folder, { recursive: true, force: true })
      removed += 1
    } catch {
      // Nothing that matters is in it.
    }
  }
  return removed
}

function list(parent: string): string[] {
  try {
    return readdirSync(parent)
  } catch {
    return []
  }
}

/** A real folder of the same user: in a folder for everybody anybody can put links. */
function isOurs(folder: string): boolean {
  try {
    const facts = lstatSync(folder)
    return facts.isDirectory() && facts.uid === (process.getuid?.() ?? facts.uid)
  } catch {
    return false
  }
}

/** Undefined for a folder that no demo has marked: it belongs to somebody's tests. */
function readOwner(folder: string): Owner | undefined {
  try {
    const owner = JSON.parse(readFileSync(join(folder, MARK), 'utf8')) as Owner
    return Number.isSafeInteger(owner.pid) && owner.pid > 0 ? owner : undefined
  } catch {
    return undefined
  }
}
