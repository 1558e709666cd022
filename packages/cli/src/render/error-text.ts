import { CODES, type CredentialError, describeUnexpected, isCredentialError } from 'kubecred/errors'
import { exhaustedError } from 'kubecred/internal'
import { EXIT } from '../exit-status.ts'
import { UsageError } from '../usage-error.ts'
import type { EventLog } from './event-log.ts'
import { printable, printableLine, printableOutput } from './printable.ts'
import type { StderrWriter } from './stderr-writer.ts'
import { withFlagNames } from './with-flag-names.ts'

/** Writes the message, the hint and the code of an error to standard error. Returns the exit status. */
export function explainError(error: unknown, words: StderrWriter, story: EventLog): number {
  if (error instanceof UsageError) return explainUsage(error, words)
  const known = isCredentialError(error) ? error : exhaustedError(error)
  if (known !== undefined) return explainCredentialError(known, words, story)
  const { id, message, stack } = describeUnexpected(error)
  words.paragraph(`internal error ${id}: ${printableLine(message)}`, 'kubecred:')
  if (story.level > 0) words.line(printable(stack))
  else words.line('Use -v for the stack trace.')
  return EXIT.unexpected
}

function explainUsage({ message, command }: UsageError, words: StderrWriter): number {
  words.paragraph(printableLine(message), 'kubecred:')
  words.line(`Try 'kubecred ${command === undefined ? '' : `${command} `}--help'`)
  return EXIT.usage
}

function explainCredentialError(
  error: CredentialError,
  words: StderrWriter,
  story: EventLog,
): number {
  const { dim } = words.palette
  words.paragraph(printable(withFlagNames(error.summary)), 'kubecred:')
  if (!story.facts.hasPassedStderr) {
    for (const line of stderrTail(error)) words.line(`  ${line}`)
  }
  words.line()
  words.paragraph(printable(withFlagNames(error.hint)))
  words.line(dim(`(${error.code}; see: kubecred explain ${error.code})`))
  if (story.level > 1) words.line(printable(error.stack ?? ''))
  // An error from another version of the library may have an unknown code.
  return Object.hasOwn(CODES, error.code) ? CODES[error.code].exit : EXIT.unexpected
}

function stderrTail(error: CredentialError): string[] {
  const tail = 'stderrTail' in error ? error.stderrTail : undefined
  return typeof tail === 'string' ? printableOutput(tail).split('\n') : []
}
