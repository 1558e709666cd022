import { scrub, showControlCharacters } from '../../secret/scrub.ts'

/** How many errors below the one that was thrown are shown. */
const MOST_CAUSES = 3

/**
 * Says in lines for people why a plugin failed: `NAME: message`, and what to do where the error knows it.
 *
 * The reason often stands in the cause ("fetch failed" alone helps nobody). What looks like a secret is
 * taken out, since clients show these lines and write them to logs.
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

/** The exit status: the error's own `exitStatus` from 1 to 125, where its author set one, or else 1. */
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

/** What is thrown need not be an error; an object that is none may hold anything and is not shown. */
function asErrorLike(thrown: unknown, threw: string): ErrorLike {
  if (thrown instanceof Error) return thrown
  if (typeof thrown === 'string' && thrown !== '') return { name: 'Error', message: thrown }
  const { message, name } = Object(thrown) as { message?: unknown; name?: unknown }
  if (typeof message === 'string' && message !== '') {
    return { name: typeof name === 'string' ? name : 'Error', message }
  }
  const what =
    thrown === null ? 'null' : typeof thrown === 'object' ? 'an object' : `${typeof thrown}`
  return { name: 'Error', message: `the ${threw} threw ${what} in place of an error` }
}

/** An error with a hint explains itself; with others the reason may be further down. */
function messageOf(error: ErrorLike): string {
  const messages: string[] = []
  for (const each of error.hint === undefined ? withCauses(error) : [error]) {
    const text = each.message || codeOf(each)
    if (text !== '' && !messages.some((known) => known.includes(text))) messages.push(text)
  }
  return messages.join(': ') || 'it did not say why'
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
  while (cause instanceof Error && found.length <= MOST_CAUSES) {
    found.push(cause)
    cause = cause.cause
  }
  return found
}
