import { sentencesOf } from './stderr-excerpt.ts'

const MAX_LENGTH = 200
/** How many words may stand before "login": three in `gcloud auth application-default login`. */
const MAX_BEFORE = 3

/** Words that introduce a command. Only the first ones also do so for a command without quotes. */
const RUN = /^(?:re-?)?(?:run|running|execute|executing):?$/i
const USE = /^(?:use|using|try|type|issue|via):?$/i
/** In front of those words: a report such as "failed to run aws sso login" is not advice. */
const REPORT =
  /\b(?:failed|unable|tried|trying|attempted|attempting) to$|\b(?:not|cannot|can't|never|avoid|error|while|was|were)$|\b(?:not|never) ever$/i
const BETWEEN = /^(?:the|this|following|command:?|\$)$/i
/** Words that belong to a sentence and not to a command. */
const PROSE =
  /^(?:a|an|the|this|that|it|your|you|to|and|or|with|for|from|in|on|if|is|be|again|then|first|before|please|not|without)$/i

/** A word without any character that a shell interprets. `[secret]` stands for a value that was removed. */
const WORD = /^(?:[\w./:=@+,-]|\[secret\])+$/
const LOGIN = /^(?:[\w-]+-)?(?:log-?in|sign-?in|(?:re-?)?authenticate)$/i
const COMPOUND = /^[\w-]+-(?:log-?in|sign-?in)$/i
const QUOTES = '`\'"‘’“”'

/**
 * Returns the command with which a program tells the user to log in, such as `aws sso login`, in the program's own words.
 *
 * It is for people to read. A program can print any command, so it must never be run without asking the user.
 *
 * @param tail Already scrubbed, with control characters made visible.
 * @returns Undefined if its standard error names no such command.
 */
export function findLoginCommand(tail: string | undefined): string | undefined {
  const found = sentencesOf(tail).flatMap(commandsIn)
  return found.findLast((command) => command.length <= MAX_LENGTH)
}

/** The status of a credential that needs a login. */
export function describeNeededLogin(command: string): string {
  return `needs a login: run ${command}`
}

function commandsIn(sentence: string): readonly string[] {
  const words = sentence.split(/\s+/)
  return words.flatMap((word, index) => {
    const isRun = RUN.test(word)
    if (!isRun && !USE.test(word)) return []
    if (REPORT.test(words.slice(Math.max(0, index - 2), index).join(' '))) return []
    const rest = words.slice(index + 1, index + 1 + MAX_LENGTH)
    while (rest[0] !== undefined && BETWEEN.test(rest[0])) rest.shift()
    const command = QUOTES.includes(rest[0]?.[0] ?? ' ')
      ? readQuoted(rest)
      : isRun && readBare(rest)
    return command ? [command.join(' ')] : []
  })
}

/** Returns the words up to the closing quote, if they are a login command and nothing else. */
function readQuoted(words: readonly string[]): readonly string[] | undefined {
  const [text] = new RegExp(`^[${QUOTES}][^${QUOTES}]*[${QUOTES}]`).exec(words.join(' ')) ?? []
  const command = text?.slice(1, -1).trim().split(' ') ?? []
  if (command[0] === '$') command.shift()
  const isLogin = endOfLogin(command) !== undefined
  return isLogin && command.every((word) => WORD.test(word)) ? command : undefined
}

/** Returns the words up to "login", and the flags and addresses behind it. */
function readBare(words: readonly string[]): readonly string[] | undefined {
  const end = endOfLogin(words)
  if (end === undefined) return undefined
  const command = words.slice(0, end).map(withoutPunctuation)
  const rest = command.at(-1) === words[end - 1] ? words.slice(end) : []
  let isAfterFlag = false
  for (const word of rest) {
    const shown = withoutPunctuation(word)
    const isFlag = shown.startsWith('-')
    const isValue = isAfterFlag ? !PROSE.test(shown) : /[./:@=]/.test(shown)
    // Without its value, a flag would make it another command.
    if (isAfterFlag && !WORD.test(shown)) return undefined
    if (!WORD.test(shown) || !(isFlag || isValue)) break
    command.push(shown)
    isAfterFlag = isFlag && !shown.includes('=')
    if (shown !== word) break
  }
  return command
}

/** Returns the index behind "login" if the words before it can be a program and its subcommands. */
function endOfLogin(words: readonly string[]): number | undefined {
  for (const [index, word] of words.slice(0, MAX_BEFORE + 1).entries()) {
    const shown = withoutPunctuation(word)
    // An assignment before a command, such as LD_PRELOAD=…, would change what the command does.
    if (PROSE.test(shown) || !WORD.test(shown) || /^-|=/.test(shown)) return undefined
    if (index > 0 ? LOGIN.test(shown) : COMPOUND.test(shown)) return index + 1
    if (words[index - 1] === 'auth' && /^(?:init|refresh)$/.test(shown)) return index + 1
    // The sentence has ended.
    if (shown !== word) return undefined
  }
  return undefined
}

function withoutPunctuation(word: string): string {
  return word.replace(/[.,;:!?)]+$/, '')
}
