import { constants } from 'node:os'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

/** Signals that end a process without a core dump, which would contain our secrets. */
const WITHOUT_CORE: readonly NodeJS.Signals[] = [
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGKILL',
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM',
]

/**
 * Ends this process with the signal that ended a child process, so that our parent sees the same signal.
 *
 * A shell stops a loop on Ctrl-C only if the command in it was killed by SIGINT.
 *
 * @returns The equivalent exit status, if this process cannot or must not be killed by the signal.
 */
export async function exitBySignal(signal: NodeJS.Signals): Promise<number> {
  if (WITHOUT_CORE.includes(signal) && process.platform !== 'win32') {
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
    // The signal is delivered on the next turn of the event loop.
    await sleep(1000)
  }
  return 128 + constants.signals[signal]
}
