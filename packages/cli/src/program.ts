import type { Call, Command, Io } from './command.ts'
import { COMMANDS } from './command-table.ts'
import { EXIT } from './exit-status.ts'
import { flagFacts, GLOBAL_FLAGS } from './flags/flag-table.ts'
import { type CommandLine, parseCommandLine } from './flags/parse-command-line.ts'
import { Interruption, interruptedBy } from './interruption.ts'
import { choosePalette } from './render/colour.ts'
import { EventLog } from './render/event-log.ts'
import { Progress } from './render/progress.ts'
import { StderrWriter } from './render/stderr-writer.ts'
import { refuseAsPlugin } from './run/refuse-as-plugin.ts'
import { UsageError } from './usage-error.ts'

/** Runs the program with the given arguments and returns the exit status. Does not touch `process`. */
export async function runProgram(argv: readonly string[], io: Io): Promise<number> {
  const stderr = new StderrWriter(
    io.stderr,
    choosePalette(io.isTerminal.stderr, io.env),
    io.isTerminal.stderr ? io.errorColumns : undefined,
  )
  const progress = makeProgress(io, stderr)
  let log = new EventLog(stderr, 0, io.now)
  let signal = io.signal
  let name: string | undefined
  if (argv[0] === 'demo') {
    stderr.line('kubecred: the demo is a separate package; run: npx @kubecred/demo')
    return EXIT.usage
  }
  try {
    const line = parseCommandLine(
      argv,
      COMMANDS.map((command) => command.name),
      COMMANDS.filter(({ isForeign }) => isForeign).map((command) => command.name),
    )
    log = new EventLog(stderr, line.flags.verbosity, io.now)
    const command = chooseCommand(line)
    name = command.name === 'help' ? undefined : command.name
    if (line.flags.isOn('help') || command.name === 'help') return await showHelp(line, command, io)
    if (command.isHarmless !== true) refuseAsPlugin(io, command.name)
    checkLine(line, command)
    signal = await limitTime(io, line)
    const run = await command.load()
    const call: Call = { args: line.args, flags: line.flags, io, signal, stderr, log, progress }
    const status = await run(call)
    // A command whose output could not be written did not succeed.
    if (status === EXIT.done) io.signal.throwIfAborted()
    return status
  } catch (error) {
    const reason: unknown = signal.aborted ? signal.reason : asInterruption(error)
    if (reason instanceof Interruption) return reason.exitStatus
    const { explainError } = await import('./render/error-text.ts')
    progress.end()
    return explainError(withCommand(reason, name), stderr, log)
  } finally {
    progress.end()
  }
}

const DEFAULT_COLUMNS = 80

function makeProgress({ isTerminal, env, errorColumns }: Io, stderr: StderrWriter): Progress {
  return new Progress(stderr, {
    isTerminal: isTerminal.stderr,
    canRewrite: env['TERM'] !== 'dumb',
    columns: errorColumns ?? DEFAULT_COLUMNS,
  })
}

/** Ctrl-C also reaches a plugin at the terminal, and its end may be reported before our own signal. */
function asInterruption(error: unknown): unknown {
  const { code, signal } = (error ?? {}) as { code?: unknown; signal?: unknown }
  return code === 'ERR_PLUGIN_KILLED' && signal === 'SIGINT' ? interruptedBy('SIGINT') : error
}

/** Applies `--timeout`. Loaded on demand: most commands have no limit. */
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
  const mistyped = { typed: wanted, names }
  throw new UsageError(`unknown command ${JSON.stringify(wanted)}`, undefined, mistyped)
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
    if (GLOBAL_FLAGS.includes(flag) || own.includes(flag)) continue
    const { short } = flagFacts(flag)
    const shown = short === undefined ? `--${flag}` : `--${flag} (-${short})`
    throw new UsageError(`${name} has no flag ${shown}`)
  }
  const [min, max] = arity
  if (args.length < min) throw new UsageError(`${name} needs ${operands}`)
  const surplus = args[max]
  if (surplus !== undefined) {
    throw new UsageError(
      `unexpected argument ${JSON.stringify(surplus)}${hintAtLevel(surplus, flags)}`,
    )
  }
}

/** kubectl accepts `-v 6`; here `-v` takes its value only as `-v=6`. */
function hintAtLevel(surplus: string, flags: CommandLine['flags']): string {
  const isLevel = /^\d{1,2}$/.test(surplus) && flags.verbosity > 0
  return isLevel ? `; did you mean -v=${surplus}?` : ''
}

function withCommand(error: unknown, name: string | undefined): unknown {
  const isNameless = error instanceof UsageError && error.command === undefined
  return isNameless ? new UsageError(error.message, name, error.mistyped) : error
}
