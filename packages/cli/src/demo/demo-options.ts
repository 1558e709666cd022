import type { Call } from '../command.ts'
import { parseDuration } from '../flags/duration.ts'
import { UsageError } from '../usage-error.ts'

const HIGHEST_PORT = 65_535
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** What was typed. */
export interface DemoOptions {
  /** Of the page; 0 is any that is free. */
  readonly port: number
  readonly mayOpen: boolean
  /** Undefined when a person ends it. */
  readonly durationMs: number | undefined
}

/** @throws {UsageError} */
export function readDemoOptions({ flags }: Pick<Call, 'flags'>): DemoOptions {
  return {
    port: readPort(flags.text('port')),
    mayOpen: flags.isOn('no-open') !== true,
    durationMs: readDuration(flags.text('duration')),
  }
}

function readPort(text: string | undefined): number {
  if (text === undefined) return 0
  if (/^\d{1,5}$/.test(text) && Number(text) <= HIGHEST_PORT) return Number(text)
  throw new UsageError(`flag --port takes a number from 0 to 65535, not ${JSON.stringify(text)}`)
}

function readDuration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined) {
    throw new UsageError(
      `flag --duration takes seconds or a time such as 1m30s, not ${JSON.stringify(text)}`,
    )
  }
  // As with other times, 0 is no limit.
  return milliseconds === 0 ? undefined : Math.min(milliseconds, LONGEST_TIMER_MS)
}
