import type { MessagePort } from 'node:worker_threads'
import type { Environment } from '../formats/plain-object.ts'

/** The data of the worker thread. */
export interface WorkerTask {
  /** Distinguishes our worker from those of the program. */
  readonly task: typeof TASK
  /** The environment of the user. */
  readonly env: Environment
  /** Carries one answer to the main thread, and one message from it: to end. */
  readonly port: MessagePort
  /**
   * A number of `STATE`: the main thread waits for it to change, and reads the answer from the port. And a number that
   * the worker counts up, to show that it is alive.
   */
  readonly state: Int32Array
}

/** What the main thread needs to know, or why the program must not start. */
export type Answer =
  | { readonly env: Readonly<Record<string, string>>; readonly folder: string }
  | Fault

/** Why the program must not start. */
export interface Fault {
  /** Lines for standard error. */
  readonly fault: string
  readonly exitStatus: number
}

export const TASK = 'kubecred/register'

/** How far the worker is. */
export const STATE = { new: 0, running: 1, answered: 2, ended: 3 } as const

/** Changes the state, and wakes the thread that waits for it. */
export function enter(state: Int32Array, next: (typeof STATE)[keyof typeof STATE]): void {
  Atomics.store(state, 0, next)
  Atomics.notify(state, 0)
}
