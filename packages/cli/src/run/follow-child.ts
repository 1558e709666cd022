import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import process from 'node:process'
import type { Io } from '../command.ts'

/** How a process ended. */
export type Ending =
  | { readonly status: number }
  | { readonly signal: NodeJS.Signals }
  /** It could not be started. */
  | { readonly error: NodeJS.ErrnoException }

/** The signals that keys at the terminal send. */
const KEYS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']

/** Always forwarded. */
const PASSED = ['SIGUSR1', 'SIGUSR2'] as const

/**
 * Starts a process, forwards signals to it, and waits for it to end.
 *
 * Signals from keys at the terminal reach the child directly, because it is in our process group: forwarded, they would
 * count twice. They are forwarded only if there is no terminal. Ctrl-Z stops both processes, and `fg` continues both.
 */
export async function followChild(
  start: () => ChildProcess,
  io: Pick<Io, 'takeSignals'>,
): Promise<Ending> {
  const hasTerminal = hasControllingTerminal()
  let child: ChildProcess | undefined
  const pass = (signal: NodeJS.Signals): void => void child?.kill(signal)
  const passKey = (signal: NodeJS.Signals): void => {
    if (!hasTerminal) pass(signal)
  }
  // Before it starts, so that no signal is lost.
  for (const signal of PASSED) process.on(signal, pass)
  const giveBack = io.takeSignals((signal) => (KEYS.includes(signal) ? passKey : pass)(signal))
  try {
    child = start()
    return await endOf(child)
  } catch (error) {
    // A batch file of Windows cannot be given every argument.
    return { error: error as NodeJS.ErrnoException }
  } finally {
    giveBack()
    for (const signal of PASSED) process.off(signal, pass)
  }
}

function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ error }))
    child.once('exit', (status, signal) =>
      resolve(signal === null ? { status: status ?? 0 } : { signal }),
    )
  })
}

function hasControllingTerminal(): boolean {
  // There, Ctrl-C reaches all processes of a console, and a forwarded signal would end the child at once.
  if (process.platform === 'win32') return true
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
