import { EXIT } from './exit-status.ts'

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGTERM: 15 } as const

/** A signal that asks a program to end. */
export type EndingSignal = keyof typeof NUMBERS

/** Why a command ends before it is done; everything worth saying about it has been said. */
export class Interruption extends Error {
  readonly exitStatus: number

  constructor(message: string, exitStatus: number) {
    super(message)
    this.exitStatus = exitStatus
  }
}

/** Somebody sent a signal. The exit status is as shells have it: 128 and the signal's number. */
export function interruptedBy(signal: EndingSignal): Interruption {
  return new Interruption(`interrupted by ${signal}`, 128 + NUMBERS[signal])
}

/** Nobody reads the output any more, as with `| head -1`: that is no error. */
export function outputClosed(): Interruption {
  return new Interruption('standard output was closed', EXIT.done)
}

/** The output cannot be written, for example because a disk is full. */
export function outputFailed(): Interruption {
  return new Interruption('standard output cannot be written', EXIT.unexpected)
}
