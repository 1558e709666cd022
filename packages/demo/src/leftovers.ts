import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { identifyProcess, isRunning, pidNamespace } from '@kubecred/cli/internal'

const FOLDER_PREFIX = 'kubecred-sandbox-'
const MARK = 'demo.json'

/** The process that owns a folder, identified so that a later process with the same pid is not confused with it. */
interface Owner extends ReturnType<typeof identifyProcess> {
  /** The pid namespace: the pid means nothing in another container that shares the folder. */
  readonly space: number
}

/** Marks a folder as owned by this process, for {@link removeLeftovers} of later demos. */
export function markFolder(folder: string): void {
  const owner: Owner = { ...identifyProcess(process.pid), space: pidNamespace() }
  writeFileSync(join(folder, MARK), JSON.stringify(owner), { mode: 0o600 })
}

/**
 * Removes the folders of demos that were killed and could not clean up.
 *
 * @returns The number of folders removed.
 */
export function removeLeftovers(parent = tmpdir()): number {
  let removed = 0
  for (const name of list(parent)) {
    const folder = join(parent, name)
    if (!name.startsWith(FOLDER_PREFIX) || !isOurs(folder)) continue
    const owner = readOwner(folder)
    if (owner?.space !== pidNamespace() || isRunning(owner)) continue
    try {
      rmSync(folder, { recursive: true, force: true })
      removed += 1
    } catch {
      // It does no harm.
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

/** Whether this is a real folder of the same user: other users can create links in a shared temporary folder. */
function isOurs(folder: string): boolean {
  try {
    const facts = lstatSync(folder)
    return facts.isDirectory() && facts.uid === (process.getuid?.() ?? facts.uid)
  } catch {
    return false
  }
}

/** Reads the owner of a folder. Undefined if no demo has marked it: then it may belong to tests. */
function readOwner(folder: string): Owner | undefined {
  try {
    const owner = JSON.parse(readFileSync(join(folder, MARK), 'utf8')) as Owner
    return Number.isSafeInteger(owner.pid) && owner.pid > 0 ? owner : undefined
  } catch {
    return undefined
  }
}
