import { type ChildProcess, spawn } from 'node:child_process'
import process from 'node:process'
import type { RunFailure, RunRequest } from '../ports/programs.ts'

/** What the kernel would say to a program for another machine. */
export const FOREIGN_FORMAT = Object.assign(new Error('exec format error'), { code: 'ENOEXEC' })

type Spawned = Pick<RunRequest, 'command' | 'path' | 'args' | 'env' | 'interactive' | 'cwd'>

/**
 * Starts a program without a shell. Its standard output is a pipe.
 *
 * @param extra Further descriptors, from number 3.
 */
export function spawnProgram(
  { command, path, args, env, interactive, cwd }: Spawned,
  extra: readonly 'pipe'[] = [],
): ChildProcess {
  return spawn(
    path,
    args.map((arg) => arg.expose()),
    {
      argv0: command,
      env,
      ...(cwd !== undefined && { cwd }),
      // A session of its own, so that it can be ended with all its children. Not when it asks a
      // person: a new session would have no terminal.
      detached: !interactive && process.platform !== 'win32',
      stdio: interactive
        ? ['inherit', 'pipe', 'inherit', ...extra]
        : ['ignore', 'pipe', 'pipe', ...extra],
      windowsHide: true,
    },
  )
}

/** What is told of a program that did not start. */
export function notStarted(error: unknown, tookMs: number): RunFailure {
  const { code = 'UNKNOWN', message } = error as NodeJS.ErrnoException
  // Node's own message for a bad value quotes the value.
  const reason = code === 'ERR_INVALID_ARG_VALUE' ? 'a value cannot be passed' : message
  return { ended: 'not-started', errno: code, reason, tookMs, stderrTail: '' }
}
