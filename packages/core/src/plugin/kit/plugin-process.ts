import { basename } from 'node:path'
import process from 'node:process'

/** How this plugin is called in messages: the name of its file. */
export function programName(): string {
  return basename(process.argv[1] ?? 'plugin')
}

type Callback = (error?: Error | null) => void

/**
 * Keeps standard output for the answer: whatever else is written to it goes to standard error.
 *
 * It stays so until the process ends. A chatty library, a forgotten `console.log` or a word from an exit
 * handler in front of or behind the answer would make it unreadable. What writes to descriptor 1 itself,
 * such as a child process that inherits it, cannot be caught here.
 *
 * @returns Writes to the real standard output. Resolves when it is handed over, rejects when nobody reads it.
 */
export function guardStdout(): (text: string) => Promise<void> {
  const { stdout } = process
  const write = stdout.write.bind(stdout)
  stdout.write = process.stderr.write.bind(process.stderr) as typeof stdout.write
  // A pipeline ends its target, which would leave nothing to answer on, and then waits for the event.
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

/** How a plugin can end before its function does. */
export type Disaster =
  | { readonly is: 'failed'; readonly error: unknown }
  | { readonly is: 'signalled'; readonly status: number }

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const
type Signal = keyof typeof SIGNALS

/** How long a function may clean up after a signal; clients that stop a plugin wait about twice as long. */
const GRACE_MS = 1000

export interface ProcessWatch {
  /** The first disaster. It may never come. */
  readonly disaster: Promise<Disaster>
  /** Aborted by a signal, so that the function can clean up. */
  readonly signal: AbortSignal
  /** Does what SIGINT does. */
  readonly interrupt: () => void
  /** Tell it when the function has ended, so that nobody waits longer than needed after a signal. */
  readonly settled: () => void
}

/** Watches for what would end the process without an answer, and takes it over. */
export function watchProcess(what: 'plugin' | 'signer' = 'plugin'): ProcessWatch {
  const abort = new AbortController()
  let settled: () => void = () => {}
  const whenSettled = new Promise<void>((resolve) => {
    settled = resolve
  })
  let interrupt: () => void = () => {}
  const disaster = new Promise<Disaster>((resolve) => {
    const fail = (error: unknown): void => resolve({ is: 'failed', error })
    const onSignal = (signal: Signal): void => {
      const status = SIGNALS[signal]
      const end = (): void => resolve({ is: 'signalled', status })
      // Whoever sends a second one does not want to wait.
      setTimeout(end, abort.signal.aborted ? 0 : GRACE_MS)
      abort.abort(new Error(`the ${what} was stopped by ${signal}`))
      void whenSettled.then(end)
    }
    interrupt = () => onSignal('SIGINT')
    for (const signal of Object.keys(SIGNALS) as Signal[]) process.on(signal, onSignal)
    process.on('uncaughtException', fail)
    process.on('unhandledRejection', fail)
    process.on('beforeExit', () =>
      fail(new Error(`the function of the ${what} waits for something that cannot happen`)),
    )
  })
  return { disaster, signal: abort.signal, interrupt, settled }
}
