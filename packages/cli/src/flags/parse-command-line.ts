import { parseArgs } from 'node:util'
import { UsageError } from '../usage-error.ts'
import { FLAGS, type FlagName, flagFacts, GLOBAL_FLAGS, isFlagName } from './flag-table.ts'
import { FlagValues } from './flag-values.ts'

/** A parsed command line. */
export interface CommandLine {
  /** The first positional argument, whether it is a known command or not. */
  readonly command: string | undefined
  readonly args: readonly string[]
  readonly flags: FlagValues
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

/**
 * Parses a command line: flags may be before and after the command, `--` ends them.
 *
 * @param foreign Commands whose operands are another command line, which is not parsed.
 * @throws {UsageError} For the first flag that is unknown or has no value.
 */
export function parseCommandLine(
  argv: readonly string[],
  commands: readonly string[],
  foreign: readonly string[] = [],
): CommandLine {
  const at = findForeign(argv, foreign)
  const { tokens } = tokenize(argv.slice(0, at))
  const positionals = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  const command = positionals.find((word) => commands.includes(word))
  const given = new Map<FlagName, string[]>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const name = knownName(token, command)
    given.set(name, [...(given.get(name) ?? []), readValue(name, token, command)])
  }
  const args = [...positionals.slice(1), ...(at === undefined ? [] : argv.slice(at))]
  return { command: positionals[0], args, flags: new FlagValues(given) }
}

/** Returns the index of the other command line: it starts at the second positional argument. */
function findForeign(argv: readonly string[], foreign: readonly string[]): number | undefined {
  const [first, second] = tokenize(argv).tokens.filter(({ kind }) => kind === 'positional')
  const isForeign = first !== undefined && foreign.includes(argv[first.index] ?? '')
  return isForeign ? second?.index : undefined
}

function tokenize(argv: readonly string[]) {
  return parseArgs({
    args: argv.map((arg) => arg.replace(/^-v=/, '--v=')),
    options: PARSE_OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
}

const PARSE_OPTIONS = Object.fromEntries(
  Object.keys(FLAGS)
    .filter(isFlagName)
    .map((name) => {
      const { short, value } = flagFacts(name)
      const type: 'string' | 'boolean' = value === undefined ? 'boolean' : 'string'
      return [name, { type, multiple: true, ...(short !== undefined && { short }) }]
    }),
)

function knownName({ name, rawName }: OptionToken, command: string | undefined): FlagName {
  if (isFlagName(name)) return name
  const names = Object.keys(FLAGS).map((flag) => `--${flag}`)
  const mistyped = rawName.startsWith('--') ? { typed: rawName, names } : undefined
  throw new UsageError(`unknown flag ${rawName}`, command, mistyped)
}

function readValue(name: FlagName, token: OptionToken, command: string | undefined): string {
  if (name === 'v') return readLevel(token, command)
  if (flagFacts(name).value === undefined) return readSwitch(token, command)
  const { value, inlineValue, rawName } = token
  if (value === undefined) throw new UsageError(`flag ${rawName} needs a value`, command)
  if (inlineValue) return stripEquals(name, rawName, value)
  // A value that looks like a flag is most likely the next flag; a number or a single dash is not.
  if (/^-[^\d]/.test(value)) {
    throw new UsageError(
      `flag ${rawName} needs a value; if ${JSON.stringify(value)} is meant, write --${name}=${value}`,
      command,
    )
  }
  return value
}

/** kubectl accepts `-n=name` for `-n name`; curl, the model for the flags of `fetch`, does not. */
function stripEquals(name: FlagName, rawName: string, value: string): string {
  const isShort = !rawName.startsWith('--')
  const isKubectlFlag = GLOBAL_FLAGS.includes(name) || name === 'output'
  return isShort && isKubectlFlag ? value.replace(/^=/, '') : value
}

function readLevel({ value }: OptionToken, command: string | undefined): string {
  if (value === undefined) return '1'
  if (/^\d{1,2}$/.test(value)) return value
  throw new UsageError(`flag -v takes a number: -v=2, not ${JSON.stringify(value)}`, command)
}

/** Accepts the values that Go's strconv.ParseBool accepts. */
function readSwitch({ value, rawName }: OptionToken, command: string | undefined): string {
  if (value === undefined || /^(?:1|t|T|true|TRUE|True)$/.test(value)) return 'true'
  if (/^(?:0|f|F|false|FALSE|False)$/.test(value)) return 'false'
  throw new UsageError(
    `flag ${rawName} is true or false, not ${JSON.stringify(value.slice(0, 40))}`,
    command,
  )
}
