import type { Command } from '../command.ts'
import { type FlagName, flagFacts, GLOBAL_FLAGS } from '../flags/flag-table.ts'
import { wrapText } from './wrap-text.ts'

const FLAG_COLUMN = 36
const WIDTH = 80
const MIN_COLUMNS = 30
const SEE_OPTIONS = 'Use "kubecred options" for a list of global flags (accepted by every command).'

/** What the program does, for the help and the manual page. */
export const ABOUT = 'sends authenticated requests to Kubernetes and explains why they fail'

/** Returns the help of the program. */
export function programHelp(commands: readonly Command[], columns?: number): string {
  const fits = fitter(columns)
  const width = Math.max(...commands.map(({ name }) => name.length))
  return lines([
    ...fits('', `kubecred ${ABOUT}.`),
    '',
    'Usage: kubecred COMMAND [FLAGS]',
    '',
    'Commands:',
    ...commands.flatMap(({ name, summary }) => fits(`  ${name.padEnd(width)}  `, summary)),
    '',
    ...fits(
      '',
      'Exit status: 0 success, 1 the server responded with 400 or higher, 2 usage error,',
    ),
    ...fits('', '10 to 99 an error with a code (see "kubecred explain").'),
    '',
    ...fits('', 'Use "kubecred COMMAND --help" for more information about a command.'),
    ...fits('', SEE_OPTIONS),
  ])
}

/** Returns the list of global flags. */
export function optionsHelp(columns?: number): string {
  const fits = fitter(columns)
  return lines([
    ...fits('', 'The following flags can be passed to any command:'),
    '',
    ...GLOBAL_FLAGS.flatMap((name) => fits(...flagParts(name))),
  ])
}

/** Returns the help of one command. */
export function commandHelp(command: Command, columns?: number): string {
  const fits = fitter(columns)
  const flagLines = (name: FlagName): string[] => fits(...flagParts(name))
  const { name, operands, summary, about, examples, flags, globals = [], isForeign } = command
  const parts = isForeign ? [name, '[FLAGS]', operands] : [name, operands, '[FLAGS]']
  const usage = ['kubecred', ...parts].filter((part) => part !== '').join(' ')
  return lines([
    ...fits('', `${summary}.`),
    '',
    `Usage: ${usage}`,
    ...about.flatMap((paragraph) => [
      '',
      ...wrapText(paragraph, Math.min(columns ?? WIDTH, WIDTH)),
    ]),
    '',
    ...(examples.length > 0 ? ['Examples:', ...examples.map((one) => `  ${one}`), ''] : []),
    ...(flags.length > 0 ? ['Flags:', ...[...flags, ...globals].flatMap(flagLines), ''] : []),
    ...fits('', SEE_OPTIONS),
  ])
}

/** Returns the left column of a flag, with its names and value, and its description. */
function flagParts(name: FlagName): [string, string] {
  const { short, value, help } = flagFacts(name)
  const dash = name.length === 1 ? undefined : `--${name}`
  const names = [short === undefined ? '   ' : `-${short}`, dash].filter(
    (part) => part !== undefined,
  )
  const left =
    names.join(short === undefined ? ' ' : ', ') + (value === undefined ? '' : ` ${value}`)
  return [`  ${left.padEnd(FLAG_COLUMN)}  `, help]
}

/** Returns a function that wraps the text of the right column within its column. */
function fitter(columns = Number.POSITIVE_INFINITY): (left: string, text: string) => string[] {
  return (left, text) => {
    const room = columns - left.length
    // Too narrow for two columns: the text goes on the next line, indented.
    if (left !== '' && room < MIN_COLUMNS)
      return [left.trimEnd(), ...wrapText(text, columns - 10).map((line) => `          ${line}`)]
    const [first = '', ...rest] = wrapText(text, room)
    return [`${left}${first}`, ...rest.map((line) => `${' '.repeat(left.length)}${line}`)]
  }
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}
