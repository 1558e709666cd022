import process from 'node:process'
import { createInterface } from 'node:readline/promises'
import type { Io } from '../command.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Asks the person at the terminal. Everything but yes is no.
 *
 * @throws {UsageError} When there is nobody to ask.
 */
export async function confirm(question: string, { signal }: Io): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new UsageError('there is no terminal to ask on; give --yes if you mean it', 'wrap')
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(?:es)?$/i.test((await asking.question(`${question} [y/N] `, { signal })).trim())
  } finally {
    asking.close()
  }
}
