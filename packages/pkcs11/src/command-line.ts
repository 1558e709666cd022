import { parseArgs } from 'node:util'

/** A parsed command line. */
export type CommandLine =
  | { readonly command: 'sign' }
  | { readonly command: 'help' }
  | { readonly command: 'version' }
  | {
      readonly command: 'list'
      readonly library: string | undefined
      readonly logsIn: boolean
      readonly isJson: boolean
    }
  | {
      readonly command: 'serve'
      readonly socket: string
      readonly configuration: Readonly<Record<string, string>>
    }

/** The command line is invalid. */
export class UsageError extends Error {}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

/** The flags of `serve` and the names that they have in the `config` map. */
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
 * Parses the command line.
 *
 * @throws {UsageError} The command or a flag is unknown or lacks its value.
 */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const [command, ...rest] = argv
  if (command === undefined) return { command: 'sign' }
  if (argv.includes('--help') || argv.includes('-h') || command === 'help')
    return { command: 'help' }
  if (command === '--version' || command === 'version') return { command: 'version' }
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
  if (output !== undefined && output !== 'json') throw new UsageError('--output must be json')
  return {
    command: 'list',
    library: lib as string | undefined,
    logsIn: login === true,
    isJson: output === 'json',
  }
}

function parseServe(args: readonly string[]): CommandLine {
  const own = Object.fromEntries(Object.keys(CONFIGURATION).map((name) => [name, text]))
  const values = parse(args, { socket: text, ...own })
  const { socket } = values
  if (typeof socket !== 'string') throw new UsageError('serve requires --socket PATH')
  const configuration = Object.fromEntries(
    Object.entries(CONFIGURATION).flatMap(([name, key]) => {
      const value = values[name]
      return typeof value === 'string' ? [[key, value]] : []
    }),
  )
  return { command: 'serve', socket, configuration }
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
