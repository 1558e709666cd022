import process from 'node:process'
import { choosePalette, printable, printableLine, UsageError } from '@kubecred/cli/internal'
import { HELP } from './help-text.ts'
import { removeLeftovers } from './leftovers.ts'
import { Output } from './output.ts'
import { type DemoArguments, readArguments } from './read-arguments.ts'
import { runDemo } from './run-demo.ts'
import { StartError } from './start-error.ts'

/** Exit statuses as in shells: 128 plus the number of the signal. */
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const
const EXIT = { usage: 2, unexpected: 70 } as const

const ending = new AbortController()

// The first signal stops the demo normally; a second one exits immediately.
for (const [signal, status] of Object.entries(SIGNALS)) {
  process.on(signal, () => {
    if (ending.signal.aborted) process.exit(status)
    ending.abort()
  })
}
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A closed pipe, as with `| head`, is not an error.
  if (error.code !== 'EPIPE') {
    process.stderr.write(`kubecred-demo: cannot write to standard output: ${error.message}\n`)
    process.exitCode = EXIT.unexpected
  }
  ending.abort()
})

try {
  await run(readArguments(process.argv.slice(2)))
} catch (error) {
  process.exitCode = explain(error)
}

async function run(args: DemoArguments): Promise<void> {
  if (args.isHelp) return void process.stdout.write(HELP)
  if (args.isVersion) {
    const { VERSION } = await import('kubecred')
    return void process.stdout.write(`kubecred-demo ${VERSION}\n`)
  }
  removeLeftovers()
  const { env, stdout } = process
  const isTerminal = stdout.isTTY === true
  const palette = choosePalette(isTerminal, env)
  const output = new Output(stdout, {
    palette,
    isLive: isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb',
    // Read every time, because the width of a terminal changes.
    columns: () => stdout.columns,
  })
  await runDemo({ args, env, isTerminal, output, now: Date.now, signal: ending.signal })
}

function explain(error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`kubecred-demo: ${printableLine(error.message)}\n`)
    process.stderr.write("Try 'kubecred-demo --help'\n")
    return EXIT.usage
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  const text = error instanceof StartError ? message : `unexpected: ${stack ?? message}`
  process.stderr.write(`kubecred-demo: ${printable(text)}\n`)
  return EXIT.unexpected
}
