import process from 'node:process'
import type { Io } from './command.ts'
import { type EndingSignal, interruptedBy, outputClosed, outputFailed } from './interruption.ts'
import { runProgram } from './program.ts'

/** Runs the command line of this process. */
export async function main(): Promise<void> {
  process.exitCode = await runProgram(process.argv.slice(2), processIo())
}

/** The signals and outputs of this process. */
function processIo(): Io {
  const ending = new AbortController()
  const endCommand = (signal: EndingSignal): void => {
    const reason = interruptedBy(signal)
    // A second signal ends the program at once; plugins are stopped all the same.
    if (ending.signal.aborted) process.exit(reason.exitStatus)
    ending.abort(reason)
  }
  let onSignal = endCommand
  // SIGQUIT and SIGABRT too: by default they write a core dump, with our secrets in it.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGABRT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => onSignal(signal))
  }
  endWithOutput(ending)
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    signal: ending.signal,
    takeSignals(listener) {
      onSignal = listener
      return () => {
        onSignal = endCommand
      }
    },
    isTerminal: {
      stdout: process.stdout.isTTY === true,
      stderr: process.stderr.isTTY === true,
    },
    // A terminal of unknown size reports 0.
    columns: process.stdout.columns || undefined,
    errorColumns: process.stderr.columns || undefined,
    nodeVersion: process.version,
    now: () => Date.now(),
    async readStdin(signal) {
      const { buffer } = await import('node:stream/consumers')
      const { addAbortSignal } = await import('node:stream')
      return buffer(addAbortSignal(signal, process.stdin))
    },
  }
}

/** Ends the command when its output cannot be written any more. */
function endWithOutput(ending: AbortController): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') {
      ending.abort(outputClosed())
      return
    }
    // Reported here, because the command may have ended already.
    process.stderr.write(`kubecred: cannot write to standard output: ${error.message}\n`)
    const reason = outputFailed()
    process.exitCode = reason.exitStatus
    ending.abort(reason)
  })
  process.stderr.on('error', () => {
    // Standard error is closed; the exit status still reports the result.
  })
}
