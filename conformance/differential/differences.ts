import { readFileSync } from 'node:fs'
import type { Summary } from './summary.ts'

/** An intended difference. */
export interface Explained {
  /** What differs, and how: `theirs → ours`. */
  readonly differs: Summary
  /** A key of `reasons`. */
  readonly because: string
}

/** The contents of differences.json: every difference and its reason. */
export interface Differences {
  /** Each reason once, as a sentence. */
  readonly reasons: Readonly<Record<string, string>>
  readonly kubectl: Readonly<Record<string, Explained>>
  readonly 'client-go': Readonly<Record<string, Explained>>
}

export const DIFFERENCES = new URL('differences.json', import.meta.url)

export function loadDifferences(): Differences {
  return JSON.parse(readFileSync(DIFFERENCES, 'utf8')) as Differences
}
