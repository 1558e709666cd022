import type { Command } from '../command.ts'
import { COMMON_FLAGS, type FlagName, flagFacts } from '../flags/flag-table.ts'
import { wrap } from './wrap.ts'

const FLAG_COLUMN = 36
const WIDTH = 80
const NARROWEST = 30

/** The help of the whole program. */
export function programHelp(commands: readonly Command[], columns?: number): string {
  const fits = fitter(columns)
  const width = Math.max(...commands.map(({ name }) => name.length))
  return lines([
    ...fits('', 'kubecred: authenticated requests to Kubernetes, and why they are refused'),
    '',
    'Usage: kubecred COMMAND [FLAGS]',
    '',
    'Commands:',
    ...commands.flatMap(({ name, summary }) => fits(`  ${name.padEnd(width)}  `, summary)),
    '',
    ...fits('', 'Exit status: 0 done, 1 the server answered 400 or more, 2 wrong usage,'),
    ...fits('', '10 to 99 an error with a code (see: kubecred explain).'),
    '',
    "Try 'kubecred COMMAND --help'",
  ])
}

/** The help of one command. */
export function commandHelp(command: Command, columns?: number): string {
  const fits = fitter(columns)
  const flagLines = (name: FlagName): string[] => fits(...flagParts(name))
  const { name, operands, summary, about, examples, flags, connects, isForeign } = command
  const parts = isForeign ? [name, '[FLAGS]', operands] : [name, operands, '[FLAGS]']
  const usage = ['kubecred', ...parts].filter((part) => part !== '').join(' ')
  return lines([
    ...fits('', `${summary}.`),
    '',
    `Usage: ${usage}`,
    ...about.flatMap((paragraph) => ['', ...wrap(paragraph, Math.min(columns ?? WIDTH, WIDTH))]),
    '',
    ...(examples.length > 0 ? ['Examples:', ...examples.map((one) => `  ${one}`), ''] : []),
    ...(flags.length > 0 ? ['Flags:', ...flags.flatMap(flagLines), ''] : []),
    ...(connects
      ? ['Flags of every command:', ...COMMON_FLAGS.flatMap(flagLines)]
      : [
          'Flags of every command: -h, -v and those that choose a cluster, which are not needed here.',
        ]),
  ])
}

/** Name and value of a flag in its column, and what it does. */
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

/** Lets the text beside a column go on below itself, where the terminal would break it in the middle of a word. */
function fitter(columns = Number.POSITIVE_INFINITY): (left: string, text: string) => string[] {
  return (left, text) => {
    const room = columns - left.length
    // Too narrow for two columns: the text goes below, a little to the right.
    if (left !== '' && room < NARROWEST)
      return [left.trimEnd(), ...wrap(text, columns - 10).map((line) => `          ${line}`)]
    const [first = '', ...rest] = wrap(text, room)
    return [`${left}${first}`, ...rest.map((line) => `${' '.repeat(left.length)}${line}`)]
  }
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}
