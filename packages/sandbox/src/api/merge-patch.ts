import { StatusError } from '../server/status.ts'

/** Applies a JSON merge patch (RFC 7386): objects are merged, null removes a field, any other value replaces it. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}

/**
 * Rejects a strategic merge patch that differs from a merge patch: one with lists, whose merge keys only a schema has,
 * or with directives.
 *
 * @throws {StatusError} 422 `Invalid`.
 */
export function checkStrategicPatch(patch: unknown): void {
  if (Array.isArray(patch)) throw notMerged('lists')
  if (!isObject(patch)) return
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$')) throw notMerged(`the directive ${key}`)
    checkStrategicPatch(value)
  }
}

function notMerged(what: string): StatusError {
  return new StatusError(
    'Invalid',
    `the sandbox has no schema and does not support ${what} in a strategic merge patch`,
  )
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
