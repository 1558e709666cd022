import { writeSync } from 'node:fs'
import process from 'node:process'
import { isSea } from 'node:sea'
import { hostEnvironment, withSystemNames } from 'kubecred/internal'
import { printableOutput } from '../render/printable.ts'
import { isUsageError } from '../usage-error.ts'
import { getToken, type TokenAnswer } from './get-token.ts'
import { readArguments, type TokenArguments } from './read-arguments.ts'
import type { TokenIo } from './token-io.ts'

const EXIT_USAGE = 2
const EXIT_EXHAUSTED = 95

const io: TokenIo = {
  // A copy, because each access to process.env is a system call.
  env: withSystemNames({ ...hostEnvironment() }),
  cwd: process.cwd(),
  parent: process.ppid,
  own: isSea() ? undefined : process.argv[1],
  // Loaded only if it is needed.
  isTerminal: async (descriptor) => (await import('node:tty')).isatty(descriptor),
  yieldTerminal: () => clearTimeout(waiting),
  writeLine(text) {
    io.passStderr(`${isAtLineStart ? '' : '\n'}kubecred-token: ${text}\n`)
  },
  passStderr(text) {
    const shown = printableOutput(text)
    isAllWritten = false
    isAtLineStart = shown.endsWith('\n')
    process.stderr.write(shown)
  },
}

/** False once something was written through a stream, which may need the process a little longer. */
let isAllWritten = true
let isAtLineStart = true
/** Reports what is being waited for, unless a plugin has the terminal. */
let waiting: NodeJS.Timeout | undefined

const WAIT_NOTICE_MS = 5000

// No top-level `await`: the bundle is CommonJS, which Node starts sooner.
void main().then((status) => {
  process.exitCode = status
  // Nothing is left to write or to wait for: an orderly shutdown would only take time.
  if (isAllWritten) process.exit()
})

async function main(): Promise<number> {
  try {
    const args = readArguments(process.argv.slice(2))
    if (args.isHelp || args.isVersion) return await showHelp(args.isVersion)
    waiting = setTimeout(reportWaiting, WAIT_NOTICE_MS, args)
    waiting.unref()
    if (args.plugin !== undefined) return await finish(await getToken(args, io))
    const { contextToken } = await import('./context-token.ts')
    return await finish({ is: 'credential', text: await contextToken(args, io) })
  } catch (error) {
    return explain(error)
  }
}

/** Only on a terminal: in a log it would accompany every slow answer. */
async function reportWaiting({ plugin, context }: TokenArguments): Promise<void> {
  if (!(await io.isTerminal(2))) return
  const what =
    plugin === undefined
      ? `the credential of ${context === undefined ? 'the current context' : `context ${JSON.stringify(context)}`}`
      : `plugin ${JSON.stringify(plugin.command)}`
  io.writeLine(`waiting for ${what} (${WAIT_NOTICE_MS / 1000} s)`)
}

async function finish(answer: TokenAnswer): Promise<number> {
  if (answer.is === 'credential') {
    print(`${answer.text}\n`)
    return 0
  }
  const { message, hint, code, exit, stderrTail, hasPassedStderr, nextTryAt } = answer
  const { withFlagNames } = await import('./slow-path.ts')
  io.writeLine(withFlagNames(message))
  if (stderrTail !== undefined && hasPassedStderr !== true) {
    for (const line of stderrTail.split('\n')) io.passStderr(`  ${line}\n`)
  }
  io.writeLine(`${withFlagNames(hint, '--plugin-timeout, before "--" in exec.args')} (${code})`)
  const waitMs = (nextTryAt ?? 0) - Date.now()
  if (waitMs > 0) {
    const seconds = Math.ceil(waitMs / 1000)
    io.writeLine(`The plugin runs again in ${seconds} s, or after kubecred agent forget.`)
  }
  return exit
}

/** Writes synchronously; a stream is created only if the pipe is full. */
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
    io.writeLine(`${error.message}; see kubecred-token --help`)
    return EXIT_USAGE
  }
  const { code } = Object(error) as { code?: unknown }
  if (code === 'EMFILE' || code === 'ENFILE') {
    // No further file can be loaded, so the text is here.
    io.writeLine(`this process has too many open files and connections (${code})`)
    io.writeLine('Raise the limit with ulimit -n. (ERR_SYSTEM_EXHAUSTED)')
    return EXIT_EXHAUSTED
  }
  const { failedAnswer } = await import('./slow-path.ts')
  return finish(failedAnswer(error))
}

async function showHelp(isVersion: boolean): Promise<number> {
  const { HELP, VERSION } = await import('./help.ts')
  isAllWritten = false
  process.stdout.write(isVersion ? `${VERSION}\n` : HELP)
  return 0
}
