import type { Command } from '../command.ts'
import { COMMON_FLAGS, type FlagName, flagFacts } from '../flags/flag-table.ts'
import { wrap } from './wrap.ts'

const FLAG_COLUMN = 36
const WIDTH = 80

/** The help of the whole program. */
export function programHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return lines([
    'kubecred: authenticated requests to Kubernetes, and why they are refused',
    '',
    'Usage: kubecred COMMAND [FLAGS]',
    '',
    'Commands:',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'Exit status: 0 done, 1 the server answered 400 or more, 2 wrong usage,',
    '10 to 99 an error with a code (see: kubecred explain).',
    '',
    "Try 'kubecred COMMAND --help'",
  ])
}

/** The help of one command. */
export function commandHelp(command: Command): string {
  const { name, operands, summary, about, examples, flags, connects } = command
  const usage = ['kubecred', name, operands, '[FLAGS]'].filter((part) => part !== '').join(' ')
  return lines([
    `${summary}.`,
    '',
    `Usage: ${usage}`,
    ...about.flatMap((paragraph) => ['', ...wrap(paragraph, WIDTH)]),
    '',
    ...(examples.length > 0 ? ['Examples:', ...examples.map((one) => `  ${one}`), ''] : []),
    ...(flags.length > 0 ? ['Flags:', ...flags.map(flagLine), ''] : []),
    ...(connects
      ? ['Flags of every command:', ...COMMON_FLAGS.map(flagLine)]
      : [
          'Flags of every command: -h, -v and those that choose a cluster, which are not needed here.',
        ]),
  ])
}

function flagLine(name: FlagName): string {
  const { short, value, help } = flagFacts(name)
  const dash = name.length === 1 ? undefined : `--${name}`
  const names = [short === undefined ? '   ' : `-${short}`, dash].filter(
    (part) => part !== undefined,
  )
  const left =
    names.join(short === undefined ? ' ' : ', ') + (value === undefined ? '' : ` ${value}`)
  return `  ${left.padEnd(FLAG_COLUMN)}  ${help}`
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}
