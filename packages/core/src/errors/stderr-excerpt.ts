const MAX_LINES = 3
const MAX_CHARACTERS = 300
const MAX_ADVICE = 200

/**
 * Returns the last lines of a program's standard error as one line for the end of a message.
 *
 * At most three lines and 300 characters; the end is kept, because programs write their reason last.
 *
 * @param tail Already scrubbed, with control characters made visible.
 * @returns Undefined if there is no text in it.
 */
export function stderrExcerpt(tail: string | undefined): string | undefined {
  const text = linesOf(tail)
    .slice(-MAX_LINES)
    .join(' | ')
    .replace(/[.\s]+$/, '')
  if (text === '') return undefined
  return text.length > MAX_CHARACTERS ? `…${text.slice(1 - MAX_CHARACTERS)}` : text
}

/**
 * Returns a hint that quotes what a program itself tells the user to do, such as "please run `az login`".
 *
 * @param tail Already scrubbed, with control characters made visible.
 * @returns Undefined if its standard error contains no such sentence.
 */
export function quoteAdvice(tail: string | undefined): string | undefined {
  const advice = sentencesOf(tail).findLast(isAdvice)
  if (advice === undefined) return undefined
  const shown = advice.length > MAX_ADVICE ? `${advice.slice(0, MAX_ADVICE - 1)}…` : advice
  return `Do what the program asks: "${shown.replace(/[.\s]+$/, '')}".`
}

const ACTION =
  '(?:(?:re-?)?run(?:ning)?|execut(?:e|ing)|log(?:ging)? ?in|sign(?:ing)? in|(?:re-?)?authenticat(?:e|ing)|install(?:ing)?)'

/** Sentences that tell the reader to do something. A report such as "failed to run aws" or "run failed" is not advice. */
const ADVICE: readonly RegExp[] = [
  /^(?:then |or |now )?(?:re-?)?(?:run|execute|log ?in|sign in)\b(?! (?:failed|failure|error|time|was|is)\b)/i,
  new RegExp(
    `\\b(?:please|try|you (?:can|must|should|(?:may )?need to|have to))\\b.*\\b${ACTION}\\b`,
    'i',
  ),
  /^to (?!run\b).*\b(?:run|execute|use)\b/i,
  // After the reason: session expired, run corp login.
  /[,;:] (?:run|execute|use):? (?!(?:failed|failure|error|time|was|is)\b)/i,
  // A command in quotes: run `gcloud auth login`.
  /(?<!(?:to|cannot|not|can't) )\b(?:run|execute|use):? [`'"$]/i,
]

function isAdvice(sentence: string): boolean {
  return ADVICE.some((pattern) => pattern.test(sentence))
}

/** Splits text into sentences. A line that ends with a colon, as in "Please run:", continues on the next one. */
export function sentencesOf(tail: string | undefined): readonly string[] {
  const text = linesOf(tail).reduce(
    (before, line) => `${before}${before.endsWith(':') ? ' ' : '\n'}${line}`,
    '',
  )
  return text
    .split(/\n|(?<=[.!?;]) /)
    .map((sentence) => sentence.replace(/^(?:error|warning|fatal|hint|info)\s*:\s*/i, '').trim())
    .filter((sentence) => sentence !== '')
}

function linesOf(tail = ''): readonly string[] {
  return tail
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
