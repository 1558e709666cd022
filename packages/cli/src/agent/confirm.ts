import process from 'node:process'
import { createInterface } from 'node:readline'
import type { Io } from '../command.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Asks a yes/no question at the terminal. Anything but yes is no, also the end of input (Ctrl-D).
 *
 * @throws {UsageError} If standard input is not a terminal.
 * @throws The abort reason if the signal aborts, for example after Ctrl-C.
 */
export async function confirm(question: string, { signal }: Io): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new UsageError('standard input is not a terminal; use --yes to skip the question', 'wrap')
  }
  // Without raw mode Ctrl-C stays a signal.
  const asking = createInterface({ input: process.stdin, terminal: false })
  process.stderr.write(`${question} [y/N] `)
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(signal.reason)
      asking.close()
    }
    const leave = (): void => {
      // Enter was not pressed, so the cursor is still behind the question.
      process.stderr.write('\n')
      resolve(false)
    }
    signal.addEventListener('abort', stop, { once: true })
    asking.once('close', leave)
    asking.once('close', () => signal.removeEventListener('abort', stop))
    asking.once('line', (answer) => {
      asking.off('close', leave)
      resolve(/^y(?:es)?$/i.test(answer.trim()))
      asking.close()
    })
  })
}
