import type { Call, Command, Io } from './command.ts'
import { COMMANDS } from './command-table.ts'
import { EXIT } from './exit-status.ts'
import { didYouMean } from './flags/did-you-mean.ts'
import { COMMON_FLAGS, flagFacts } from './flags/flag-table.ts'
import { type CommandLine, parseCommandLine } from './flags/parse-command-line.ts'
import { Interruption, interruptedBy } from './interruption.ts'
import { choosePalette } from './render/colour.ts'
import { Story } from './render/event-log.ts'
import { Patience } from './render/progress.ts'
import { Words } from './render/stderr-writer.ts'
import { refuseAsPlugin } from './run/refuse-as-plugin.ts'
import { UsageError } from './usage-error.ts'

/** The whole program but the process around it: takes the arguments, returns the exit status. */
export async function runProgram(argv: readonly string[], io: Io): Promise<number> {
  const words = new Words(
    io.stderr,
    choosePalette(io.isTerminal.stderr, io.env),
    io.isTerminal.stderr ? io.errorColumns : undefined,
  )
  const patience = makePatience(io, words)
  let story = new Story(words, 0, io.now)
  let signal = io.signal
  let name: string | undefined
  if (argv[0] === 'demo') {
    words.line('kubecred: the demo is a package of its own; run: npx @kubecred/demo')
    return EXIT.usage
  }
  try {
    const line = parseCommandLine(
      argv,
      COMMANDS.map((command) => command.name),
      COMMANDS.filter(({ isForeign }) => isForeign).map((command) => command.name),
    )
    story = new Story(words, line.flags.verbosity, io.now)
    const command = chooseCommand(line)
    name = command.name === 'help' ? undefined : command.name
    if (line.flags.isOn('help') || command.name === 'help') return await showHelp(line, command, io)
    if (command.isHarmless !== true) refuseAsPlugin(io, command.name)
    checkLine(line, command)
    signal = await limitTime(io, line)
    const run = await command.load()
    const call: Call = { args: line.args, flags: line.flags, io, signal, words, story, patience }
    const status = await run(call)
    // What could not be written was not done, even if nobody noticed in time.
    if (status === EXIT.done) io.signal.throwIfAborted()
    return status
  } catch (error) {
    const reason: unknown = signal.aborted ? signal.reason : asInterruption(error)
    if (reason instanceof Interruption) return reason.exitStatus
    const { explainError } = await import('./render/error-text.ts')
    patience.end()
    return explainError(withCommand(reason, name), words, story)
  } finally {
    patience.end()
  }
}

const USUAL_COLUMNS = 80

function makePatience({ isTerminal, env, errorColumns }: Io, words: Words): Patience {
  return new Patience(words, {
    isTerminal: isTerminal.stderr,
    canRewrite: env['TERM'] !== 'dumb',
    columns: errorColumns ?? USUAL_COLUMNS,
  })
}

/** Ctrl-C reaches a plugin at the terminal as well as us, and its end may be known first. */
function asInterruption(error: unknown): unknown {
  const { code, signal } = (error ?? {}) as { code?: unknown; signal?: unknown }
  return code === 'ERR_PLUGIN_KILLED' && signal === 'SIGINT' ? interruptedBy('SIGINT') : error
}

/** Loaded only when asked for: most commands have no limit. */
async function limitTime(io: Io, { flags }: CommandLine): Promise<AbortSignal> {
  if (flags.text('timeout') === undefined) return io.signal
  const { withTimeLimit } = await import('./flags/time-limit.ts')
  return withTimeLimit(io.signal, flags, 'timeout')
}

function chooseCommand({ command, flags }: CommandLine): Command {
  const wanted = command ?? (flags.isOn('version') ? 'version' : 'help')
  const found = COMMANDS.find(({ name }) => name === wanted)
  if (found !== undefined) return found
  const names = COMMANDS.map(({ name }) => name)
  throw new UsageError(`unknown command ${JSON.stringify(wanted)}${didYouMean(wanted, names)}`)
}

async function showHelp(line: CommandLine, command: Command, io: Io): Promise<number> {
  const { commandHelp, programHelp } = await import('./render/help-text.ts')
  const isGeneral =
    line.command === undefined || (command.name === 'help' && line.args.length === 0)
  const about =
    command.name === 'help' ? chooseCommand({ ...line, command: line.args[0] }) : command
  io.stdout.write(isGeneral ? programHelp(COMMANDS, io.columns) : commandHelp(about, io.columns))
  return EXIT.done
}

function checkLine(
  { args, flags }: CommandLine,
  { name, flags: own, arity, operands }: Command,
): void {
  for (const flag of flags.names) {
    if (COMMON_FLAGS.includes(flag) || own.includes(flag)) continue
    const { short } = flagFacts(flag)
    const shown = short === undefined ? `--${flag}` : `--${flag} (-${short})`
    throw new UsageError(`${name} has no flag ${shown}`)
  }
  const [fewest, most] = arity
  if (args.length < fewest) throw new UsageError(`${name} needs ${operands}`)
  const surplus = args[most]
  if (surplus !== undefined) {
    throw new UsageError(
      `unexpected argument ${JSON.stringify(surplus)}${hintAtLevel(surplus, flags)}`,
    )
  }
}

/** kubectl takes `-v 6`; here `-v` stands alone. */
function hintAtLevel(surplus: string, flags: CommandLine['flags']): string {
  const isLevel = /^\d{1,2}$/.test(surplus) && flags.verbosity > 0
  return isLevel ? `; did you mean -v=${surplus}?` : ''
}

function withCommand(error: unknown, name: string | undefined): unknown {
  const isNameless = error instanceof UsageError && error.command === undefined
  return isNameless ? new UsageError(error.message, name) : error
}
