import { parseArgs } from 'node:util'

/** What was typed, understood. */
export type CommandLine =
  | { readonly is: 'sign' }
  | { readonly is: 'help' }
  | { readonly is: 'version' }
  | {
      readonly is: 'list'
      readonly library: string | undefined
      readonly logsIn: boolean
      readonly isJson: boolean
    }
  | {
      readonly is: 'serve'
      readonly socket: string
      readonly configuration: Readonly<Record<string, string>>
    }

/** Something was typed that cannot be meant. */
export class UsageError extends Error {}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

/** Flags of `serve` and their names in the config map. */
const CONFIGURATION = {
  lib: 'pathLib',
  'slot-id': 'slotId',
  'token-label': 'tokenLabel',
  'token-serial': 'tokenSerial',
  'object-id': 'objectId',
  'object-id-hex': 'objectIdHex',
  'object-label': 'objectLabel',
  uri: 'uri',
  'pin-file': 'pinFile',
  'pin-env': 'pinEnv',
} as const

/**
 * Reads the command line.
 *
 * @throws {UsageError}
 */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const [command, ...rest] = argv
  if (command === undefined) return { is: 'sign' }
  if (argv.includes('--help') || argv.includes('-h') || command === 'help') return { is: 'help' }
  if (command === '--version' || command === 'version') return { is: 'version' }
  if (command === 'list') return parseList(rest)
  if (command === 'serve') return parseServe(rest)
  throw new UsageError(`unknown command ${JSON.stringify(command)}`)
}

function parseList(args: readonly string[]): CommandLine {
  const { lib, login, output } = parse(args, {
    lib: text,
    login: flag,
    output: { ...text, short: 'o' },
  })
  if (output !== undefined && output !== 'json') throw new UsageError('--output can only be json')
  return {
    is: 'list',
    library: lib as string | undefined,
    logsIn: login === true,
    isJson: output === 'json',
  }
}

function parseServe(args: readonly string[]): CommandLine {
  const own = Object.fromEntries(Object.keys(CONFIGURATION).map((name) => [name, text]))
  const values = parse(args, { socket: text, ...own })
  const { socket } = values
  if (typeof socket !== 'string') throw new UsageError('serve needs --socket PATH')
  const configuration = Object.fromEntries(
    Object.entries(CONFIGURATION).flatMap(([name, key]) => {
      const value = values[name]
      return typeof value === 'string' ? [[key, value]] : []
    }),
  )
  return { is: 'serve', socket, configuration }
}

type Options = NonNullable<Parameters<typeof parseArgs>[0]>['options']

function parse(
  args: readonly string[],
  options: NonNullable<Options>,
): Readonly<Record<string, unknown>> {
  try {
    return parseArgs({ args: [...args], options, strict: true }).values
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0] ?? '')
  }
}
