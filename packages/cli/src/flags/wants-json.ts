import { UsageError } from '../usage-error.ts'
import type { FlagValues } from './flag-values.ts'

/** Whether `-o json` was given. */
export function wantsJson(flags: FlagValues): boolean {
  const format = flags.text('output')
  if (format === undefined) return false
  if (format === 'json') return true
  throw new UsageError(`flag -o takes json, not ${JSON.stringify(format)}`)
}
