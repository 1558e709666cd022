import { basename } from 'node:path'
import process from 'node:process'

/** Returns the name of this program for messages: its file name. */
export function programName(): string {
  return basename(process.argv[1] ?? 'plugin')
}

type Callback = (error?: Error | null) => void

/**
 * Reserves standard output for the answer: everything else written to it goes to standard error until the process ends.
 *
 * Any other output before or after the answer, such as a forgotten `console.log`, would make it unreadable. Writes to
 * descriptor 1 itself, such as those of a child process that inherits it, are not redirected.
 *
 * @returns A function that writes to the real standard output. It rejects if the reader is gone.
 */
export function guardStdout(): (text: string) => Promise<void> {
  const { stdout } = process
  const write = stdout.write.bind(stdout)
  stdout.write = process.stderr.write.bind(process.stderr) as typeof stdout.write
  // A pipeline ends its target and waits for "finish". Standard output must stay open for the answer.
  stdout.end = ((...args: unknown[]) => {
    const done = args.find((arg): arg is Callback => typeof arg === 'function')
    const [chunk] = args
    if (chunk !== done && chunk !== undefined && chunk !== null) stdout.write(chunk as string)
    process.nextTick(() => {
      stdout.emit('finish')
      done?.()
    })
    return stdout
  }) as typeof stdout.end
  return (text) =>
    new Promise((resolve, reject) => {
      write(text, (error) => (error ? reject(error) : resolve()))
    })
}

/** How a plugin can end before its function returns. */
export type EarlyEnd =
  | { readonly is: 'failed'; readonly error: unknown }
  | { readonly is: 'signalled'; readonly status: number }

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const
type Signal = keyof typeof SIGNALS

/** How long the function may clean up after a signal. Clients that stop a plugin wait about twice as long. */
const GRACE_MS = 1000

/** What `watchProcess` returns. */
export interface ProcessWatch {
  /** Resolves if the process must end before the function returns. */
  readonly earlyEnd: Promise<EarlyEnd>
  /** Aborted by a signal, so that the function can clean up. */
  readonly signal: AbortSignal
  /** Does what SIGINT does. */
  readonly interrupt: () => void
  /** Must be called when the function has ended, so that the process exits at once after a signal. */
  readonly settled: () => void
}

/** Handles everything that would end the process without an answer: signals, uncaught errors, an empty event loop. */
export function watchProcess(what: 'plugin' | 'signer' = 'plugin'): ProcessWatch {
  const abort = new AbortController()
  let settled: () => void = () => {}
  const whenSettled = new Promise<void>((resolve) => {
    settled = resolve
  })
  let interrupt: () => void = () => {}
  const earlyEnd = new Promise<EarlyEnd>((resolve) => {
    const fail = (error: unknown): void => resolve({ is: 'failed', error })
    const onSignal = (signal: Signal): void => {
      const status = SIGNALS[signal]
      const end = (): void => resolve({ is: 'signalled', status })
      // A second signal ends the process at once.
      setTimeout(end, abort.signal.aborted ? 0 : GRACE_MS)
      abort.abort(new Error(`the ${what} was stopped by ${signal}`))
      void whenSettled.then(end)
    }
    interrupt = () => onSignal('SIGINT')
    for (const signal of Object.keys(SIGNALS) as Signal[]) process.on(signal, onSignal)
    process.on('uncaughtException', fail)
    process.on('unhandledRejection', fail)
    process.on('beforeExit', () =>
      fail(new Error(`the function of the ${what} waits for a promise that never settles`)),
    )
  })
  return { earlyEnd, signal: abort.signal, interrupt, settled }
}
