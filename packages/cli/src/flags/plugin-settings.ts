import { UsageError } from '../usage-error.ts'
import { parseDuration } from './duration.ts'

/** The maximum delay of a Node timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Parses the time limit for plugins. 0 means no limit.
 *
 * @param from The flag or variable that the text comes from, for the message.
 * @throws {UsageError}
 */
export function readPluginTimeout(text: string, from: string): number {
  const limitMs = parseDuration(text)
  if (limitMs === undefined) {
    throw new UsageError(`${from} takes seconds or a time such as 1m30s, not ${quote(text)}`)
  }
  if (limitMs === 0) return MAX_TIMER_MS
  return Math.min(Math.ceil(limitMs), MAX_TIMER_MS)
}

/**
 * Parses the response statuses that mean that the server does not accept the credential.
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
 * Parses the names of the environment variables for plugins.
 *
 * @throws {UsageError}
 */
export function readPluginEnv(text: string, from: string): readonly string[] {
  return listed(text).map((name) => {
    if (/^[^=\s\0]+$/.test(name)) return name
    throw new UsageError(`${from} takes names of variables without values, separated by commas`)
  })
}

function listed(text: string): string[] {
  return text.split(',').map((each) => each.trim())
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40))
}
