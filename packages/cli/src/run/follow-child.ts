import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import process from 'node:process'
import type { Io } from '../command.ts'

/** How a process came to its end. */
export type Ending =
  | { readonly status: number }
  | { readonly signal: NodeJS.Signals }
  /** It could not be started. */
  | { readonly error: NodeJS.ErrnoException }

/** What keys at the terminal cause. */
const KEYS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']

/** Always passed on. */
const PASSED = ['SIGUSR1', 'SIGUSR2'] as const

/**
 * Starts a process, waits for it to end, and lets it have the signals that we are sent.
 *
 * What keys at the terminal cause reaches it without us, as it is in our group: sent again it would
 * count as a second wish. Only without a terminal is it passed on. Ctrl-Z stops both, and `fg` wakes both.
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
  // Before it starts: a signal may come in its first moment.
  for (const signal of PASSED) process.on(signal, pass)
  const giveBack = io.takeSignals((signal) => (KEYS.includes(signal) ? passKey : pass)(signal))
  try {
    child = start()
    return await endOf(child)
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
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
