import { constants } from 'node:os'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

/** Signals that end a process and leave no core file: that of ours would have secrets in it. */
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
 * Ends this process as another one ended: whoever waits for us sees the same signal.
 *
 * A shell stops a loop at Ctrl-C only if the command in it died of it.
 *
 * @returns The exit status that says the same, where dying of it is not possible or not wise.
 */
export async function endLike(signal: NodeJS.Signals): Promise<number> {
  if (WITHOUT_CORE.includes(signal) && process.platform !== 'win32') {
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
    // It comes at once, but not before the next turn.
    await sleep(1000)
  }
  return 128 + constants.signals[signal]
}
