import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Located, Programs, RunOutcome, RunRequest } from '../ports/programs.ts'
import { collectBytes, forwardLines } from './bounded-output.ts'
import { endProcessTree, killTree } from './end-process-tree.ts'
import { withSystemNames } from './environment.ts'
import { acquireRunSlot, processProtocol } from './process-registry.ts'
import { FOREIGN_FORMAT, isForeignBinary, notStarted, spawnProgram } from './spawn-program.ts'
import { windowsFileNames } from './windows-programs.ts'

/** Returns the programs port: real processes, located through the PATH of the given environment. */
export function nodePrograms(
  env: Readonly<Record<string, string | undefined>>,
  extraFolders?: readonly string[],
): Programs {
  return {
    locate: (command) => findExecutable(command, { ...searchPath(env), extraFolders }),
    run: runProcess,
    async sha256(path) {
      const hash = createHash('sha256')
      await pipeline(createReadStream(path), hash)
      return hash.digest('hex')
    },
  }
}

/** Returns the variables of an environment that say where programs are. */
export function searchPath(
  env: Readonly<Record<string, string | undefined>>,
): Pick<Lookup, 'path' | 'pathExt'> {
  const { PATH: path, PATHEXT: pathExt } = withSystemNames(env)
  return { path, pathExt }
}

/** Where to look for a program. */
export interface Lookup {
  /** The PATH of this process. As in client-go, the `env` of the exec stanza does not change it. */
  readonly path: string | undefined
  /** Folders to search before PATH, for programs whose environment is not that of the user's shell. */
  readonly extraFolders?: readonly string[] | undefined
  readonly pathExt?: string | undefined
}

/**
 * Finds the executable file for a command.
 *
 * A name without a separator is looked up in the absolute folders of PATH: with an empty or relative element, the owner
 * of the current folder could choose the program.
 */
export async function findExecutable(command: string, lookup: Lookup): Promise<Located> {
  if (command.includes('/') || (isWindows && command.includes('\\'))) {
    const path = resolve(command)
    // As in Go, a path may lack the extension. It comes last: npm installs a script for Unix shells under that name.
    const paths = isWindows ? [...windowsFileNames(path, lookup.pathExt), path] : [path]
    return (await firstOf(paths)) ?? { is: 'missing', lookedIn: [dirname(path)] }
  }
  const folders = [...(lookup.extraFolders ?? []), ...(lookup.path ?? '').split(delimiter)].filter(
    (folder, index, all) => isAbsolute(folder) && all.indexOf(folder) === index,
  )
  const names = isWindows ? windowsFileNames(command, lookup.pathExt) : [command]
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)))
  return (await firstOf(command === '' ? [] : paths)) ?? { is: 'missing', lookedIn: folders }
}

/** Returns the first file that can be executed, else the first that exists. */
async function firstOf(paths: readonly string[]): Promise<Located | undefined> {
  let unusable: Located | undefined
  for (const path of paths) {
    const found = await inspect(path)
    if (found?.is === 'found') return found
    unusable ??= found
  }
  return unusable
}

const isWindows = process.platform === 'win32'

/** Returns undefined if the file does not exist. */
async function inspect(path: string): Promise<Located | undefined> {
  try {
    const facts = await stat(path)
    if (facts.isDirectory()) return { is: 'unusable', path, reason: 'it is a folder' }
    if (!facts.isFile()) return { is: 'unusable', path, reason: 'it is not a regular file' }
    await access(path, constants.X_OK)
    const realPath = await realpath(path)
    const writableByOthers = isWindows ? undefined : await findWritable(path, realPath)
    return { is: 'found', path, realPath, ...(writableByOthers && { writableByOthers }) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    return {
      is: 'unusable',
      path,
      reason: REASONS[code ?? ''] ?? `it cannot be inspected (${code})`,
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied, it may not be executed',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'its name is too long',
}

const OTHERS_WRITE = 0o002
const STICKY = 0o1000

/**
 * Returns why other users can replace the program, if they can.
 *
 * World-writable files and folders only: some package managers use group-writable folders.
 */
async function findWritable(path: string, realPath: string): Promise<string | undefined> {
  const file = await stat(realPath)
  if ((file.mode & OTHERS_WRITE) !== 0)
    return `${JSON.stringify(realPath)} can be changed by every user`
  // Both the folder of the link and that of the file must be protected.
  for (const each of [realPath, path]) {
    const { mode } = await stat(dirname(each))
    if ((mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0)
      return `${JSON.stringify(each)} can be replaced by every user: its folder is writable`
  }
  return undefined
}

/** How long to wait for the output after 'exit': it has arrived by then, but a grandchild may keep the pipe open. */
const AFTER_EXIT_MS = 250
/** How long to wait for a process that is being ended: one that hangs in the kernel ignores even SIGKILL. */
const AFTER_STOP_MS = 5000

type StopReason = 'timed-out' | 'output-too-large' | 'aborted'

/** Runs a program without a shell and within its limits, once a slot is free. Never rejects. */
export async function runProcess(request: RunRequest): Promise<RunOutcome> {
  let releaseSlot: () => void
  try {
    releaseSlot = await acquireRunSlot(request)
  } catch {
    return { ended: 'aborted', tookMs: 0, stderrTail: '' }
  }
  const startedAt = performance.now()
  const tookMs = (): number => Math.round(performance.now() - startedAt)
  try {
    if (await isForeignBinary(request.path)) return notStarted(FOREIGN_FORMAT, tookMs())
    // Aborted before a listener is added below.
    if (request.signal.aborted) return { ended: 'aborted', tookMs: 0, stderrTail: '' }
    request.onStart?.()
    const child = spawnProgram(request)
    return await waitForEnd(child, request, tookMs)
  } catch (error) {
    return notStarted(error, tookMs())
  } finally {
    releaseSlot()
  }
}

function waitForEnd(
  child: ChildProcess,
  request: RunRequest,
  tookMs: () => number,
): Promise<RunOutcome> {
  const isGroup = !request.interactive
  return new Promise((resolve, reject) => {
    let stopped: StopReason | undefined
    let killRest: () => void = () => {}
    let isFinished = false
    const timers: NodeJS.Timeout[] = []
    const stop = (why: StopReason): void => {
      if (stopped !== undefined) return
      stopped = why
      killRest = endProcessTree(child, { isGroup })
      timers.push(setTimeout(() => finish(null, 'SIGKILL'), AFTER_STOP_MS))
    }
    const stdout =
      child.stdout &&
      collectBytes(child.stdout, request.stdoutLimit, () => stop('output-too-large'))
    const tail = child.stderr && forwardLines(child.stderr, request.onStderr ?? (() => {}))
    const abort = (): void => stop('aborted')
    const killNow = (): void => killTree(child, 'SIGKILL', isGroup)
    const limit = setTimeout(() => stop('timed-out'), request.timeoutMs)
    timers.push(limit)
    request.signal.addEventListener('abort', abort, { once: true })
    const unregister = processProtocol().endWithProcess(killNow)

    const cleanUp = (): void => {
      for (const timer of timers) clearTimeout(timer)
      request.signal.removeEventListener('abort', abort)
      unregister()
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    const finish = (status: number | null, signal: string | null): void => {
      if (isFinished) return
      isFinished = true
      cleanUp()
      // A stopped program may have left children behind.
      killRest()
      const ran = { tookMs: tookMs(), stderrTail: tail?.() ?? '' }
      if (stopped !== undefined) resolve({ ended: stopped, ...ran })
      else if (status === null) resolve({ ended: 'killed', signal: signal ?? 'a signal', ...ran })
      else resolve({ ended: 'exited', status, stdout: stdout?.() ?? new Uint8Array(), ...ran })
    }
    child.once('error', (error) => {
      cleanUp()
      reject(error)
    })
    child.once('exit', (status, signal) => {
      // It ended in time; only the rest of its output is pending.
      clearTimeout(limit)
      // Timers run before I/O: if this process was busy, the output has arrived but is not read yet.
      const readFirst = (): void => void setImmediate(() => finish(status, signal))
      timers.push(setTimeout(readFirst, AFTER_EXIT_MS))
    })
    child.once('close', finish)
  })
}
