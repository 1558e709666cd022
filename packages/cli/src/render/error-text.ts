import { CODES, type CredentialError, describeUnexpected, isCredentialError } from 'kubecred/errors'
import { closestName, exhaustedError } from 'kubecred/internal'
import { EXIT } from '../exit-status.ts'
import { UsageError } from '../usage-error.ts'
import type { EventLog } from './event-log.ts'
import { printable, printableLine, printableOutput } from './printable.ts'
import type { StderrWriter } from './stderr-writer.ts'
import { withFlagNames } from './with-flag-names.ts'

/** Writes the message, the hint and the code of an error to standard error. Returns the exit status. */
export function explainError(error: unknown, stderr: StderrWriter, log: EventLog): number {
  if (error instanceof UsageError) return explainUsage(error, stderr)
  const known = isCredentialError(error) ? error : exhaustedError(error)
  if (known !== undefined) return explainCredentialError(known, stderr, log)
  const { id, message, stack } = describeUnexpected(error)
  stderr.paragraph(`internal error ${id}: ${printableLine(message)}`, 'kubecred:')
  if (log.level > 0) stderr.line(printable(stack))
  else stderr.line('Use -v for the stack trace.')
  return EXIT.unexpected
}

function explainUsage({ message, command, mistyped }: UsageError, stderr: StderrWriter): number {
  const suggestion = mistyped && closestName(mistyped.typed, mistyped.names)
  const shown = suggestion === undefined ? message : `${message}; did you mean ${suggestion}?`
  stderr.paragraph(printableLine(shown), 'kubecred:')
  stderr.line(`Try 'kubecred ${command === undefined ? '' : `${command} `}--help'`)
  return EXIT.usage
}

function explainCredentialError(
  error: CredentialError,
  stderr: StderrWriter,
  log: EventLog,
): number {
  const { dim } = stderr.palette
  stderr.paragraph(printable(withFlagNames(error.summary)), 'kubecred:')
  if (!log.facts.hasPassedStderr) {
    for (const line of stderrTail(error)) stderr.line(`  ${line}`)
  }
  stderr.line()
  stderr.paragraph(printable(withFlagNames(error.hint)))
  stderr.line(dim(`(${error.code}; see: kubecred explain ${error.code})`))
  if (log.level > 1) stderr.line(printable(error.stack ?? ''))
  // An error from another version of the library may have an unknown code.
  return Object.hasOwn(CODES, error.code) ? CODES[error.code].exit : EXIT.unexpected
}

function stderrTail(error: CredentialError): string[] {
  const tail = 'stderrTail' in error ? error.stderrTail : undefined
  return typeof tail === 'string' ? printableOutput(tail).split('\n') : []
}
