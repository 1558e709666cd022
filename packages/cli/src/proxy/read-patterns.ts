import type { FlagName } from '../flags/flag-table.ts'
import type { FlagValues } from '../flags/flag-values.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Parses the regular expressions of a flag, separated by commas as in kubectl. Returns undefined if it was not given.
 *
 * @throws {UsageError} If an expression is invalid; the message names it and the flag.
 */
export function readPatterns(flags: FlagValues, name: FlagName): readonly RegExp[] | undefined {
  return flags
    .text(name)
    ?.split(',')
    .map((text) => readPattern(text, name))
}

function readPattern(text: string, name: FlagName): RegExp {
  try {
    // An empty expression matches everything: a stray comma must not accept or reject all requests.
    if (text.trim() === '') throw new Error('it is empty')
    // With the flag `s`, a dot matches every character that a path can contain, as in Go.
    return new RegExp(text, 's')
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*: /, '') : String(error)
    throw new UsageError(
      `flag --${name} takes regular expressions, separated by commas; ${JSON.stringify(text)} is invalid: ${reason}`,
    )
  }
}
