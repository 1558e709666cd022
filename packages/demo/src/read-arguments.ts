import { parseArgs } from 'node:util'
import { parseDuration, UsageError } from '@kubecred/cli/internal'

const MAX_PORT = 65_535
const MAX_TIMER_MS = 2 ** 31 - 1
/** Beyond this, credentials would expire faster than plugins return them. */
const MAX_SPEED = 10

/** The parsed command line. */
export interface DemoArguments {
  /** The port of the page; 0 chooses a free one. */
  readonly port: number
  readonly mayOpen: boolean
  /** Undefined if the demo runs until it is stopped. */
  readonly durationMs: number | undefined
  /** How many times faster than normal. */
  readonly speed: number
  readonly isHelp: boolean
  readonly isVersion: boolean
}

/**
 * Parses the command line.
 *
 * @throws {UsageError} An argument is unknown or invalid.
 */
export function readArguments(argv: readonly string[]): DemoArguments {
  const { values } = parse(argv)
  return {
    port: readPort(values.port),
    mayOpen: values['no-open'] !== true,
    durationMs: readDuration(values.duration),
    speed: readSpeed(values.speed),
    isHelp: values.help === true,
    isVersion: values.version === true,
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        port: { type: 'string' },
        'no-open': { type: 'boolean' },
        duration: { type: 'string' },
        speed: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function readPort(text: string | undefined): number {
  if (text === undefined) return 0
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PORT) return Number(text)
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
  // As for other durations, 0 means no limit.
  return milliseconds === 0 ? undefined : Math.min(milliseconds, MAX_TIMER_MS)
}

function readSpeed(text: string | undefined): number {
  if (text === undefined) return 1
  if (/^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_SPEED) return Number(text)
  throw new UsageError(
    `flag --speed takes a number from 1 to ${MAX_SPEED}, not ${JSON.stringify(text)}`,
  )
}
