import process from 'node:process'
import type { Io } from '../command.ts'
import { interruptedBy } from '../interruption.ts'

/** The user's request to stop, by signals. */
export interface ShutdownRequest {
  /** Resolves on the first signal: finish the requests in flight. */
  readonly graceful: Promise<void>
  /** Resolves on the second signal: do not wait for them. */
  readonly immediate: Promise<void>
  /** Restores the previous signal handling. */
  stop(): void
}

/** Handles termination signals. The third one exits immediately. */
export function listenForShutdown(io: Pick<Io, 'takeSignals'>): ShutdownRequest {
  const steps: (() => void)[] = []
  const step = (): Promise<void> => new Promise((resolve) => steps.push(resolve))
  const [gently, atOnce] = [step(), step()]
  const stop = io.takeSignals((signal) => {
    const next = steps.shift()
    if (next === undefined) process.exit(interruptedBy(signal).exitStatus)
    next()
  })
  return { graceful: gently, immediate: atOnce, stop }
}
