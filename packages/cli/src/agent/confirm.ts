import process from 'node:process'
import { createInterface } from 'node:readline'
import type { Io } from '../command.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Asks the person at the terminal. Everything but yes is no, also the end of the input (Ctrl-D).
 *
 * @throws {UsageError} When there is nobody to ask.
 * @throws The reason of the signal when it is aborted, as by Ctrl-C.
 */
export async function confirm(question: string, { signal }: Io): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new UsageError('there is no terminal to ask on; give --yes if you mean it', 'wrap')
  }
  // The terminal keeps its own way of editing a line: Ctrl-C is then a signal, as everywhere else.
  const asking = createInterface({ input: process.stdin, terminal: false })
  process.stderr.write(`${question} [y/N] `)
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(signal.reason)
      asking.close()
    }
    const leave = (): void => {
      // Nobody has pressed Enter: what comes next begins on a line of its own all the same.
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
