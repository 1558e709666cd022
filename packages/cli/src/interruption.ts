import { EXIT } from './exit-status.ts'

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGTERM: 15 } as const

/** A signal that asks a process to terminate. */
export type EndingSignal = keyof typeof NUMBERS

/** The reason why a command ends early. Nothing more is printed about it. */
export class Interruption extends Error {
  readonly exitStatus: number

  constructor(message: string, exitStatus: number) {
    super(message)
    this.exitStatus = exitStatus
  }
}

/** Returns the interruption by a signal. The exit status follows the shell convention: 128 plus the signal number. */
export function interruptedBy(signal: EndingSignal): Interruption {
  return new Interruption(`interrupted by ${signal}`, 128 + NUMBERS[signal])
}

/** Returns the interruption by a closed output, as with `| head -1`, which is not an error. */
export function outputClosed(): Interruption {
  return new Interruption('standard output was closed', EXIT.done)
}

/** Returns the interruption by a failed write to the output, for example because a disk is full. */
export function outputFailed(): Interruption {
  return new Interruption('standard output cannot be written', EXIT.unexpected)
}
