import { writeSync } from 'node:fs'
import process from 'node:process'
import { hostEnvironment } from 'kubecred/agent'
import { isUsageError } from '../usage-error.ts'
import { getToken, type TokenAnswer } from './get-token.ts'
import { readArguments } from './read-arguments.ts'
import type { Surroundings } from './surroundings.ts'

const EXIT_USAGE = 2

const surroundings: Surroundings = {
  // A copy: each look into the environment itself is a call to the system.
  env: { ...hostEnvironment() },
  cwd: process.cwd(),
  parent: process.ppid,
  own: process.argv[1] ?? '',
  // Loaded only when somebody wants to know.
  isTerminal: async () => (await import('node:tty')).isatty(0),
  tell: (text) => surroundings.pass(`kubecred-token: ${text}\n`),
  pass(text) {
    isAllWritten = false
    process.stderr.write(text)
  },
}

/** False as soon as something went through a stream, which may need the process a little longer. */
let isAllWritten = true

// No `await` at the top: the bundle is not a module, because Node starts those later.
void main().then((status) => {
  process.exitCode = status
  // Nothing is left to write and nobody to wait for: to take everything apart in order would only take time.
  if (isAllWritten) process.exit()
})

async function main(): Promise<number> {
  try {
    const args = readArguments(process.argv.slice(2))
    if (args.isHelp || args.isVersion) return await showHelp(args.isVersion)
    if (args.plugin !== undefined) return await finish(await getToken(args, surroundings))
    const { contextToken } = await import('./context-token.ts')
    return await finish({ is: 'credential', text: await contextToken(args, surroundings) })
  } catch (error) {
    return explain(error)
  }
}

async function finish(answer: TokenAnswer): Promise<number> {
  if (answer.is === 'credential') {
    print(`${answer.text}\n`)
    return 0
  }
  const { message, hint, code, exit, stderrTail, hasPassedStderr, nextTryAt } = answer
  surroundings.tell(message)
  if (stderrTail !== undefined && hasPassedStderr !== true) {
    for (const line of stderrTail.split('\n')) surroundings.pass(`  ${line}\n`)
  }
  surroundings.tell(`${hint} (${code})`)
  const waitMs = (nextTryAt ?? 0) - Date.now()
  if (waitMs > 0) {
    const seconds = Math.ceil(waitMs / 1000)
    surroundings.tell(`The plugin is run again after ${seconds} s, or after kubecred agent forget.`)
  }
  return exit
}

/** At once where the system takes it; a stream is made only for a pipe that is full. */
function print(text: string): void {
  const bytes = Buffer.from(text)
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(1, bytes, written)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    isAllWritten = false
    process.stdout.write(bytes.subarray(written))
  }
}

async function explain(error: unknown): Promise<number> {
  if (isUsageError(error)) {
    surroundings.tell(`${error.message}; see kubecred-token --help`)
    return EXIT_USAGE
  }
  const { describeFailed } = await import('./cold.ts')
  return finish(describeFailed(error))
}

async function showHelp(isVersion: boolean): Promise<number> {
  const { HELP, VERSION } = await import('./help.ts')
  isAllWritten = false
  process.stdout.write(isVersion ? `${VERSION}\n` : HELP)
  return 0
}
