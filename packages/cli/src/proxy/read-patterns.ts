import type { FlagName } from '../flags/flag-table.ts'
import type { FlagValues } from '../flags/flag-values.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Reads regular expressions, separated by commas as kubectl has them; undefined when the flag was not given.
 *
 * @throws {UsageError} Names the flag and the expression that cannot be read.
 */
export function readPatterns(flags: FlagValues, name: FlagName): readonly RegExp[] | undefined {
  return flags
    .text(name)
    ?.split(',')
    .map((text) => readPattern(text, name))
}

function readPattern(text: string, name: FlagName): RegExp {
  try {
    // An empty part would be found in every text: a comma too many must not open or close everything.
    if (text.trim() === '') throw new Error('it is empty')
    // As in Go, a dot is every character that a path can have here.
    return new RegExp(text, 's')
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*: /, '') : String(error)
    throw new UsageError(
      `flag --${name} takes regular expressions, separated by commas; ${JSON.stringify(text)} is none: ${reason}`,
    )
  }
}
