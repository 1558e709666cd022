import process from 'node:process'
import type { Io } from '../command.ts'
import { interruptedBy } from '../interruption.ts'

/** When somebody wants the proxy to end, and when at once. */
export interface ShutdownRequest {
  /** The first signal. */
  readonly gently: Promise<void>
  /** The second one. */
  readonly atOnce: Promise<void>
  /** Leaves signals to whoever had them before. */
  stop(): void
}

/** Takes the signals: the first asks for an end, the second for an end at once, the third has it. */
export function listenForShutdown(io: Pick<Io, 'takeSignals'>): ShutdownRequest {
  const steps: (() => void)[] = []
  const step = (): Promise<void> => new Promise((resolve) => steps.push(resolve))
  const [gently, atOnce] = [step(), step()]
  const stop = io.takeSignals((signal) => {
    const next = steps.shift()
    if (next === undefined) process.exit(interruptedBy(signal).exitStatus)
    next()
  })
  return { gently, atOnce, stop }
}
