import { UsageError } from '../usage-error.ts'
import { parseDuration } from './duration.ts'

/** Node's timers cannot wait longer; they would fire at once instead. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Reads how long a plugin may take. 0 is no limit.
 *
 * @param from The flag or variable that the text comes from, for the message.
 * @throws {UsageError}
 */
export function readPluginTimeout(text: string, from: string): number {
  const limitMs = parseDuration(text)
  if (limitMs === undefined) {
    throw new UsageError(`${from} takes seconds or a time such as 1m30s, not ${quote(text)}`)
  }
  if (limitMs === 0) return LONGEST_TIMER_MS
  return Math.min(Math.ceil(limitMs), LONGEST_TIMER_MS)
}

/**
 * Reads which statuses mean that the server does not accept the credential.
 *
 * @throws {UsageError}
 */
export function readRefreshOn(text: string, from: string): readonly number[] {
  return listed(text).map((status) => {
    if (status === '401' || status === '403') return Number(status)
    throw new UsageError(`${from} takes 401 and 403, separated by a comma, not ${quote(text)}`)
  })
}

/**
 * Reads the names of the variables that plugins may see.
 *
 * @throws {UsageError}
 */
export function readPluginEnv(text: string, from: string): readonly string[] {
  return listed(text).map((name) => {
    if (/^[^=\s\0]+$/.test(name)) return name
    throw new UsageError(
      `${from} takes names of variables, separated by commas, without their values`,
    )
  })
}

function listed(text: string): string[] {
  return text.split(',').map((each) => each.trim())
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40))
}
