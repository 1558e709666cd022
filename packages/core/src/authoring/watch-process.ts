import process from 'node:process'

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
