import { scrub, showControlCharacters } from '../../secret/scrub.ts'

/** How many causes of an error are shown. */
const MAX_CAUSES = 3

/**
 * Returns the error output of a failed plugin: `NAME: message`, and the hint if the error has one.
 *
 * Includes the causes, because "fetch failed" alone does not help. Anything that looks like a secret is removed, since
 * clients show and log this output.
 */
export function describeFailure(
  thrown: unknown,
  { debug, what = 'plugin' }: { debug: boolean; what?: 'plugin' | 'signer' },
): string {
  const error = asErrorLike(thrown, what)
  const hint = typeof error.hint === 'string' ? `\n${error.hint}` : ''
  const head = `${error.name}: ${messageOf(error)}${hint}`
  const shown = debug ? `${head}\n${stacksOf(error)}` : head
  return `${showControlCharacters(scrub(shown)).trimEnd()}\n`
}

/** Returns the exit status: the `exitStatus` of the error if it is from 1 to 125, otherwise 1. */
export function exitStatusOf(thrown: unknown): number {
  const { exitStatus } = Object(thrown) as { exitStatus?: unknown }
  const isUsable =
    Number.isInteger(exitStatus) && Number(exitStatus) >= 1 && Number(exitStatus) <= 125
  return isUsable ? Number(exitStatus) : 1
}

interface ErrorLike {
  readonly name: string
  readonly message: string
  readonly hint?: unknown
  readonly cause?: unknown
  readonly stack?: string | undefined
}

/** Anything can be thrown. An object that is not an error may contain secrets and is not shown. */
function asErrorLike(thrown: unknown, threw: string): ErrorLike {
  if (thrown instanceof Error) return thrown
  if (typeof thrown === 'string' && thrown !== '') return { name: 'Error', message: thrown }
  const { message, name } = Object(thrown) as { message?: unknown; name?: unknown }
  if (typeof message === 'string' && message !== '') {
    return { name: typeof name === 'string' ? name : 'Error', message }
  }
  const what =
    thrown === null ? 'null' : typeof thrown === 'object' ? 'an object' : `${typeof thrown}`
  return { name: 'Error', message: `the ${threw} threw ${what} instead of an error` }
}

/** An error with a hint explains itself; for others the reason may be in a cause. */
function messageOf(error: ErrorLike): string {
  const messages: string[] = []
  for (const each of error.hint === undefined ? withCauses(error) : [error]) {
    const text = each.message || codeOf(each)
    if (text !== '' && !messages.some((known) => known.includes(text))) messages.push(text)
  }
  return messages.join(': ') || 'no reason given'
}

/** An AggregateError of several connection attempts has a code and no message. */
function codeOf(error: ErrorLike): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

function stacksOf(error: ErrorLike): string {
  return withCauses(error)
    .map(({ stack }) => stack ?? '')
    .filter((stack) => stack !== '')
    .join('\ncaused by ')
}

function withCauses(error: ErrorLike): readonly ErrorLike[] {
  const found = [error]
  let { cause } = error
  while (cause instanceof Error && found.length <= MAX_CAUSES) {
    found.push(cause)
    cause = cause.cause
  }
  return found
}
