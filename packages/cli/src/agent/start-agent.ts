import { type ChildProcess, spawn } from 'node:child_process'
import { connect } from 'node:net'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { AgentUnusableError, type Environment } from 'kubecred/internal'
import { type AgentPlace, checkSocket } from './agent-paths.ts'
import { takeStartLock } from './start-lock.ts'

/** A machine that has a lot to do needs seconds for what else takes a moment. */
const LONGEST_START_MS = 30_000
const LOOK_AGAIN_MS = 50

/** What the agent itself needs to know; plugins get the environment of who asks. */
const PASSED = ['HOME', 'PATH', 'TMPDIR', 'XDG_RUNTIME_DIR'] as const

/**
 * Sees to it that an agent listens: starts one, or waits for the one that somebody else is starting.
 *
 * @param timeoutMs How long plugins may take whose clients do not say; for an agent that is started now.
 * @throws {AgentUnusableError}
 */
export async function startAgent(
  place: AgentPlace,
  env: Environment,
  timeoutMs?: number,
): Promise<void> {
  const end = performance.now() + LONGEST_START_MS
  while (performance.now() < end) {
    if (await isListening(place)) return
    const release = takeStartLock(place)
    if (release !== undefined) {
      try {
        if (await isListening(place)) return
        return await startAndWait(place, spawnAgent(env, timeoutMs), end)
      } finally {
        release()
      }
    }
    await sleep(LOOK_AGAIN_MS)
  }
  throw new AgentUnusableError('somebody is starting the agent, and does not come to an end')
}

/** Whether somebody takes connections there. */
export async function isListening(place: AgentPlace): Promise<boolean> {
  if (!checkSocket(place)) return false
  return new Promise((resolve) => {
    const socket = connect(place.socket)
    socket.once('connect', () => {
      resolve(true)
      socket.destroy()
    })
    // So many wait to be taken that the kernel keeps no more: somebody is there.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'EAGAIN'))
  })
}

async function startAndWait(place: AgentPlace, child: ChildProcess, end: number): Promise<void> {
  let status: number | string | null | undefined
  child.once('exit', (code, signal) => {
    status = code ?? signal
  })
  child.once('error', (error: NodeJS.ErrnoException) => {
    status = error.code ?? 'unknown'
  })
  child.unref()
  while (performance.now() < end) {
    if (await isListening(place)) return
    if (status !== undefined) break
    await sleep(LOOK_AGAIN_MS)
  }
  const how = status === undefined ? 'it does not listen' : `it ended with ${status}`
  throw new AgentUnusableError(`the agent cannot be started: ${how}`, {
    hint: 'Run kubecred agent serve to see why, or set KUBECRED_AGENT=off to do without it.',
  })
}

/** In a session of its own, without a folder, an output or an environment that belongs to who started it. */
function spawnAgent(env: Environment, timeoutMs: number | undefined): ChildProcess {
  const program = fileURLToPath(new URL('../bundle/main.js', import.meta.url))
  const passed = PASSED.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value]]
  })
  // No core file may hold what the agent knows; Node has no call for that, a shell has.
  const script = 'ulimit -c 0; exec "$0" "$@"'
  const flags = timeoutMs === undefined ? [] : [`--plugin-timeout=${timeoutMs}ms`]
  const line = [process.execPath, program, 'agent', 'serve', ...flags]
  return spawn('/bin/sh', ['-c', script, ...line], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    env: Object.fromEntries(passed),
  })
}
