import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { open, readdir } from 'node:fs/promises'
import process from 'node:process'
import type { RunFailure, RunRequest } from '../ports/programs.ts'
import { hostEnvironment } from './environment.ts'
import { batchArguments, isBatchFile, upperCaseNames } from './windows-programs.ts'

/** The error of the kernel for a program for another architecture. */
export const FOREIGN_FORMAT = Object.assign(new Error('exec format error'), { code: 'ENOEXEC' })

type Spawned = Pick<RunRequest, 'command' | 'path' | 'args' | 'env' | 'interactive' | 'cwd'>

/**
 * Starts a program without a shell. Its standard output is a pipe.
 *
 * @param extra Further descriptors, from number 3.
 */
export function spawnProgram(
  { args, interactive, cwd, ...start }: Spawned,
  extra: readonly 'pipe'[] = [],
): ChildProcess {
  return startProgram(
    { ...start, args: args.map((arg) => arg.expose()) },
    {
      ...(cwd !== undefined && { cwd }),
      // Its own session, so that it can be ended with all its children. Not if it is interactive: a new session has no
      // terminal.
      detached: !interactive && process.platform !== 'win32',
      stdio: interactive
        ? ['inherit', 'pipe', 'inherit', ...extra]
        : ['ignore', 'pipe', 'pipe', ...extra],
      windowsHide: true,
    },
  )
}

/** A program to start, with its command for argv[0]. */
export interface ProgramStart {
  readonly command: string
  /** The file that was found for the command. */
  readonly path: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * Starts a program without a shell, and on Windows a batch file with cmd.exe.
 *
 * @throws {Error} With the code `ERR_UNSAFE_ARGUMENT` if an argument cannot be passed to a batch file.
 */
export function startProgram(
  { command, path, args, env }: ProgramStart,
  options: SpawnOptions,
): ChildProcess {
  if (process.platform !== 'win32') return spawn(path, args, { ...options, argv0: command, env })
  if (!isBatchFile(path)) {
    return spawn(path, args, { ...options, argv0: command, env: upperCaseNames(env) })
  }
  return spawn(systemProgram('cmd.exe'), batchArguments(path, args), {
    ...options,
    windowsVerbatimArguments: true,
    // With the second one, cmd.exe does not look for the programs of the batch file in the current folder.
    env: { ...upperCaseNames(env), NODEFAULTCURRENTDIRECTORYINEXEPATH: '1' },
  })
}

/** Returns the path of a program of Windows. Only this process's own environment says where Windows is. */
export function systemProgram(name: string): string {
  return `${hostEnvironment()['SystemRoot'] ?? 'C:\\Windows'}\\System32\\${name}`
}

/** Returns the outcome for a program that could not be started. */
export function notStarted(error: unknown, tookMs: number): RunFailure {
  const { code = 'UNKNOWN', message } = error as NodeJS.ErrnoException
  // Node's message for an invalid value contains the value, which may be secret.
  const reason =
    code === 'ERR_INVALID_ARG_VALUE'
      ? 'an argument or variable cannot be passed to a program'
      : message
  return { ended: 'not-started', errno: code, reason, tookMs, stderrTail: '' }
}

const ELF = Buffer.from('\x7fELF', 'latin1')
/** ELF machine numbers that run on each architecture, with its 32-bit variant. */
const MACHINES: Readonly<Record<string, readonly number[]>> = { x64: [62, 3], arm64: [183, 40] }

/**
 * Whether the kernel would reject the format of the file.
 *
 * This is checked before, because glibc's `execvp`, which Node uses, then passes the file to /bin/sh, which would run a
 * binary for another architecture as a script. Windows would only report an unknown error.
 */
export async function isForeignBinary(path: string): Promise<boolean> {
  if (process.platform !== 'linux' && process.platform !== 'win32') return false
  const head = await readHead(path)
  // An unreadable file may still be executable: the kernel decides.
  if (head === undefined) return false
  const start = head.subarray(0, 2).toString('latin1')
  if (process.platform === 'win32') return start !== 'MZ' && !isBatchFile(path)
  if (start === '#!') return false
  const isElf = head.length === HEAD_BYTES && head.subarray(0, 4).equals(ELF)
  const machines = MACHINES[process.arch]
  if (isElf && (machines === undefined || machines.includes(head.readUInt16LE(18)))) return false
  return !(await hasForeignFormats())
}

const HEAD_BYTES = 20

async function readHead(path: string): Promise<Buffer | undefined> {
  const file = await open(path).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}

/** Whether the kernel has further formats (`binfmt_misc`): other architectures, or Windows programs under WSL. */
async function hasForeignFormats(): Promise<boolean> {
  const names = await readdir('/proc/sys/fs/binfmt_misc').catch(() => [])
  return names.some((name) => name !== 'register' && name !== 'status')
}
