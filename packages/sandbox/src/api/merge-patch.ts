import { StatusError } from '../server/status.ts'

/** Applies a JSON merge patch, RFC 7386: objects merge, null removes, everything else replaces. */
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
 * Refuses a strategic merge patch that means more than a merge patch: one with lists, whose keys only a schema knows,
 * or with directives.
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
    `the sandbox knows no schema, and so not what ${what} in a strategic merge patch would change`,
  )
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
