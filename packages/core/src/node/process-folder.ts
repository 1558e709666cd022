import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import process from 'node:process'
import { NoPrivateFolderError } from '../errors/index.ts'
import type { Environment } from '../formats/plain-object.ts'
import { folderFault, ownerFault } from './private-folder.ts'
import { identifyProcess, isRunning } from './process-id.ts'

/** A folder of this process that only its user can access. */
export interface ProcessFolder {
  readonly path: string
  /** Writes a new file that only the user can read, and returns its path. */
  write(name: string, content: string): string
  /** Removes it with its contents. */
  remove(): void
}

/**
 * Creates a folder for this process, and removes the folders of processes that did not remove theirs.
 *
 * Its name has the kind, the process ID, the start time and the PID namespace, so that no file must be read to know
 * whether it is still in use.
 *
 * @throws {NoPrivateFolderError} Names each candidate and the reason.
 */
export function makeProcessFolder(
  kind: 'run' | 'proxy' | 'register',
  env: Environment,
): ProcessFolder {
  const base = chooseBase(env)
  removeStale(base)
  const { pid, startedAt = 0 } = identifyProcess(process.pid)
  const path = mkdtempSync(join(base, `${kind}-${pid}-${startedAt}-${pidNamespace()}-`))
  return {
    path,
    write: (name, content) => writeOwn(join(path, name), content),
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

function writeOwn(path: string, content: string): string {
  try {
    writeFileSync(path, content, { flag: 'wx', mode: 0o600 })
    return path
  } catch (error) {
    // On a full disk the file can be opened, and the error of the write does not name it.
    throw Object.assign(error as NodeJS.ErrnoException, { path })
  }
}

function chooseBase(env: Environment): string {
  const faults: string[] = []
  for (const folder of candidates(env)) {
    const fault = makeBase(folder)
    if (fault === undefined) return folder
    faults.push(`${folder}: ${fault}`)
  }
  const variable = process.platform === 'win32' ? 'LOCALAPPDATA' : 'XDG_RUNTIME_DIR'
  throw new NoPrivateFolderError(`no private folder is available (${faults.join('; ')})`, {
    hint: `Set ${variable} to a folder that only you can access.`,
  })
}

/** In XDG_RUNTIME_DIR, which is removed at the last logout, else in the temporary folder. */
function candidates(env: Environment): readonly string[] {
  if (process.platform === 'win32') {
    // In the profile, because the temporary folder of a service is open to all users, and access lists cannot be checked.
    const profile = env['LOCALAPPDATA']
    return profile !== undefined && isAbsolute(profile) ? [join(profile, 'kubecred')] : []
  }
  const runtime = env['XDG_RUNTIME_DIR']
  return [
    ...(runtime?.startsWith('/') ? [join(runtime, 'kubecred')] : []),
    // The program may change its current folder.
    join(resolve(env['TMPDIR'] || tmpdir()), `kubecred-${process.getuid?.()}`),
  ]
}

function makeBase(folder: string): string | undefined {
  try {
    const fault = folderFault(folder)
    if (fault !== undefined) return fault
    mkdirSync(folder, { mode: 0o700 })
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // It exists, perhaps since the check: check it again.
    return code === 'EEXIST' ? folderFault(folder) : `it cannot be used (${code})`
  }
}

const NAME = /^(?:run|proxy|register)-(\d+)-(\d+)-(\d+)-\w+$/

/** Removes the folders of dead processes. Links are not followed. */
function removeStale(base: string): void {
  for (const name of readdirSync(base)) {
    const [, pid, startedAt, space] = NAME.exec(name) ?? []
    // A process ID is meaningless in another container that shares the folder.
    if (pid === undefined || space !== String(pidNamespace())) continue
    const start = Number(startedAt)
    if (isRunning({ pid: Number(pid), ...(start !== 0 && { startedAt: start }) })) continue
    const path = join(base, name)
    const facts = lstatSync(path, { throwIfNoEntry: false })
    if (facts?.isDirectory() !== true || ownerFault(facts) !== undefined) continue
    try {
      // `force`, because another process may be removing it as well.
      rmSync(path, { recursive: true, force: true })
    } catch {
      // What cannot be removed must not keep this process from starting.
    }
  }
}

/** Returns the number of the current PID namespace; 0 on systems without them. */
export function pidNamespace(): number {
  try {
    return Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? 0)
  } catch {
    return 0
  }
}
