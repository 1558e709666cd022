import { writeSync } from 'node:fs'
import process from 'node:process'
import { hostEnvironment } from 'kubecred/internal'
import { printableOutput } from '../render/printable.ts'
import { isUsageError } from '../usage-error.ts'
import { getToken, type TokenAnswer } from './get-token.ts'
import { readArguments, type TokenArguments } from './read-arguments.ts'
import type { Surroundings } from './token-io.ts'

const EXIT_USAGE = 2
const EXIT_EXHAUSTED = 95

const surroundings: Surroundings = {
  // A copy: each look into the environment itself is a call to the system.
  env: { ...hostEnvironment() },
  cwd: process.cwd(),
  parent: process.ppid,
  own: process.argv[1] ?? '',
  // Loaded only when somebody wants to know.
  isTerminal: async (descriptor) => (await import('node:tty')).isatty(descriptor),
  giveTerminal: () => clearTimeout(waiting),
  tell(text) {
    surroundings.pass(`${isAtLineStart ? '' : '\n'}kubecred-token: ${text}\n`)
  },
  pass(text) {
    const shown = printableOutput(text)
    isAllWritten = false
    isAtLineStart = shown.endsWith('\n')
    process.stderr.write(shown)
  },
}

/** False as soon as something went through a stream, which may need the process a little longer. */
let isAllWritten = true
let isAtLineStart = true
/** Says what we wait for, unless a plugin has the terminal for itself. */
let waiting: NodeJS.Timeout | undefined

const PATIENCE_MS = 5000

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
    waiting = setTimeout(tellWaiting, PATIENCE_MS, args)
    waiting.unref()
    if (args.plugin !== undefined) return await finish(await getToken(args, surroundings))
    const { contextToken } = await import('./context-token.ts')
    return await finish({ is: 'credential', text: await contextToken(args, surroundings) })
  } catch (error) {
    return explain(error)
  }
}

/** People alone: in a log it would stand beside every slow answer. */
async function tellWaiting({ plugin, context }: TokenArguments): Promise<void> {
  if (!(await surroundings.isTerminal(2))) return
  const what =
    plugin === undefined
      ? `the credential of ${context === undefined ? 'the current context' : `context ${JSON.stringify(context)}`}`
      : `plugin ${JSON.stringify(plugin.command)}`
  surroundings.tell(`waiting for ${what}, for ${PATIENCE_MS / 1000} s now`)
}

async function finish(answer: TokenAnswer): Promise<number> {
  if (answer.is === 'credential') {
    print(`${answer.text}\n`)
    return 0
  }
  const { message, hint, code, exit, stderrTail, hasPassedStderr, nextTryAt } = answer
  const { withFlagNames } = await import('./slow-path.ts')
  surroundings.tell(withFlagNames(message))
  if (stderrTail !== undefined && hasPassedStderr !== true) {
    for (const line of stderrTail.split('\n')) surroundings.pass(`  ${line}\n`)
  }
  surroundings.tell(
    `${withFlagNames(hint, '--plugin-timeout, in front of "--" in exec.args')} (${code})`,
  )
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
  const { code } = Object(error) as { code?: unknown }
  if (code === 'EMFILE' || code === 'ENFILE') {
    // Nothing more can be loaded, so that the words stand here.
    surroundings.tell(`this process has as many files and connections open as it may (${code})`)
    surroundings.tell('Raise the limit with ulimit -n. (ERR_SYSTEM_EXHAUSTED)')
    return EXIT_EXHAUSTED
  }
  const { describeFailed } = await import('./slow-path.ts')
  return finish(describeFailed(error))
}

async function showHelp(isVersion: boolean): Promise<number> {
  const { HELP, VERSION } = await import('./help.ts')
  isAllWritten = false
  process.stdout.write(isVersion ? `${VERSION}\n` : HELP)
  return 0
}
