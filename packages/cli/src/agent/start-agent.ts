import { type ChildProcess, spawn } from 'node:child_process'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { AgentUnusableError, type Environment } from 'kubecred/internal'
import { ownCommand } from '../executable/own-program.ts'
import { type AgentPaths, checkSocket } from './agent-paths.ts'
import { takeStartLock } from './start-lock.ts'

/** Long, because a busy machine needs seconds to start a process. */
const MAX_START_MS = 30_000
const LOOK_AGAIN_MS = 50

/** What the agent itself needs; plugins get the environment of the requester. */
const PASSED = ['HOME', 'PATH', 'TMPDIR', 'XDG_RUNTIME_DIR'] as const

/**
 * Makes sure that an agent listens: starts one, or waits for the one that another process is starting.
 *
 * @param timeoutMs Time limit of plugins for requests that do not set one. Only a newly started agent uses it.
 * @throws {AgentUnusableError} If the agent does not listen within 30 seconds, or the folder is not safe.
 */
export async function startAgent(
  paths: AgentPaths,
  env: Environment,
  timeoutMs?: number,
): Promise<void> {
  const end = performance.now() + MAX_START_MS
  while (performance.now() < end) {
    if (await isListening(paths)) return
    const release = tryStartLock(paths)
    if (release !== undefined) {
      try {
        if (await isListening(paths)) return
        return await startAndWait(paths, spawnAgent(env, timeoutMs), end)
      } finally {
        release()
      }
    }
    await sleep(LOOK_AGAIN_MS)
  }
  throw new AgentUnusableError('another process is starting the agent and has not finished')
}

/** What the system reports if a file cannot be created for lack of space, or on a read-only disk. */
const NOT_WRITABLE = ['ENOSPC', 'EDQUOT', 'EROFS']

/** Takes the lock. Without space for it there can be no agent, and the plugin runs without one. */
function tryStartLock(paths: AgentPaths): (() => void) | undefined {
  try {
    return takeStartLock(paths)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined || !NOT_WRITABLE.includes(code)) throw error
    throw new AgentUnusableError(
      `its folder ${JSON.stringify(paths.folder)} cannot be written (${code})`,
      {
        hint: 'Free disk space, set XDG_RUNTIME_DIR to a folder on another disk, or set KUBECRED_AGENT=off.',
        cause: error,
      },
    )
  }
}

/** Whether an agent accepts connections. */
export async function isListening(paths: AgentPaths): Promise<boolean> {
  if (!checkSocket(paths)) return false
  return new Promise((resolve) => {
    const socket = connect(paths.socket)
    socket.once('connect', () => {
      resolve(true)
      socket.destroy()
    })
    // The kernel's queue of pending connections is full, so an agent is there.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'EAGAIN'))
  })
}

async function startAndWait(paths: AgentPaths, child: ChildProcess, end: number): Promise<void> {
  let status: number | string | null | undefined
  child.once('exit', (code, signal) => {
    status = code ?? signal
  })
  child.once('error', (error: NodeJS.ErrnoException) => {
    status = error.code ?? 'unknown'
  })
  child.unref()
  while (performance.now() < end) {
    if (await isListening(paths)) return
    if (status !== undefined) break
    await sleep(LOOK_AGAIN_MS)
  }
  const how = status === undefined ? 'it does not listen' : `it exited with ${status}`
  throw new AgentUnusableError(`the agent cannot be started: ${how}`, {
    hint: 'Run kubecred agent serve to see why, or set KUBECRED_AGENT=off to disable the agent.',
  })
}

/** Starts the agent in a new session, without the folder, the output or the environment of its parent. */
function spawnAgent(env: Environment, timeoutMs: number | undefined): ChildProcess {
  const passed = PASSED.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value]]
  })
  // No core dump may contain the agent's memory. Node cannot set the limit, a shell can.
  const script = 'ulimit -c 0; exec "$0" "$@"'
  const flags = timeoutMs === undefined ? [] : [`--plugin-timeout=${timeoutMs}ms`]
  const line = [...ownCommand(), 'agent', 'serve', ...flags]
  return spawn('/bin/sh', ['-c', script, ...line], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    env: Object.fromEntries(passed),
  })
}
