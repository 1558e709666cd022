import { dirname, isAbsolute, join } from 'node:path'
import {
  ContextNotFoundError,
  type Environment,
  type ExecEntry,
  type Kubeconfig,
  NotSupportedError,
  readKubeconfigs,
  showArgs,
  type UserEntry,
  UserNotFoundError,
} from 'kubecred/internal'

/** Which exec stanza to change, and how. */
export interface WrapOptions {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
  readonly env: Environment
  /** The new `exec.command`. */
  readonly program: string
  /** The arguments before `--`. */
  readonly flags?: readonly string[]
}

/** A planned change of one exec stanza. */
export interface WrapPlan {
  readonly file: string
  readonly user: string
  readonly context: string
  readonly isUndo: boolean
  readonly change: StanzaChange
  /** The command line before and after, for display: flags without their values. */
  readonly before: string
  readonly after: string
}

/** The edit of an exec stanza. */
export interface StanzaChange {
  readonly command: string
  /** Number of arguments to remove from the start. */
  readonly removed: number
  /** The arguments to insert there. */
  readonly inserted: readonly string[]
  /** The current command and arguments; the change is applied only if they are still the same. */
  readonly expected: { readonly command: string; readonly args: readonly string[] }
}

/** Plans to run the plugin of a context through kubecred-token. Changes no file. */
export async function planWrap(options: WrapOptions): Promise<WrapPlan> {
  const found = await findStanza(options)
  const { entry, exec, context } = found
  const { command, args } = plain(exec)
  if (isWrapped(command)) throw refuse(context, 'already uses kubecred-token')
  const folder = dirname(entry.file ?? '/')
  const isRelative = command.includes('/') && !isAbsolute(command)
  const plugin = isRelative ? join(folder, command) : command
  const inserted = [...(options.flags ?? []), '--', plugin]
  return describe(found, false, {
    command: options.program,
    removed: 0,
    inserted,
    expected: { command, args },
  })
}

/** Plans to remove kubecred-token again. Changes no file. */
export async function planUnwrap(options: Omit<WrapOptions, 'program'>): Promise<WrapPlan> {
  const found = await findStanza(options)
  const { command, args } = plain(found.exec)
  const separator = args.indexOf('--')
  const plugin = args[separator + 1]
  if (!isWrapped(command) || separator === -1 || plugin === undefined) {
    throw refuse(found.context, 'does not use kubecred-token for a plugin')
  }
  return describe(found, true, {
    command: plugin,
    removed: separator + 2,
    inserted: [],
    expected: { command, args },
  })
}

/** Whether a command is kubecred-token, with or without its folder. */
export function isWrapped(command: string): boolean {
  return /(?:^|[\\/])kubecred-token(?:\.cjs|\.exe|\.cmd)?$/.test(command)
}

interface Stanza {
  readonly context: string
  readonly entry: UserEntry
  readonly exec: ExecEntry
}

async function findStanza(options: Omit<WrapOptions, 'program'>): Promise<Stanza> {
  const { merged: config } = await readKubeconfigs(options)
  const context = options.context ?? config.currentContext ?? ''
  const entry = userOf(config, context)
  if (entry.exec?.command === undefined || entry.file === undefined) {
    throw refuse(context, 'has no credential plugin')
  }
  return { context, entry, exec: entry.exec }
}

function userOf(config: Kubeconfig, context: string): UserEntry {
  const found = config.contexts.get(context)
  if (found === undefined) throw new ContextNotFoundError(context, [...config.contexts.keys()])
  const entry = config.users.get(found.user ?? '')
  if (entry !== undefined) return entry
  const what = `user ${JSON.stringify(found.user ?? '')} does not exist`
  throw new UserNotFoundError(what, [...config.users.keys()])
}

function plain({ command, args }: ExecEntry): StanzaChange['expected'] {
  return { command: command ?? '', args: args.map((arg) => arg.expose()) }
}

function describe(
  { context, entry, exec }: Stanza,
  isUndo: boolean,
  change: StanzaChange,
): WrapPlan {
  const shown = (from: number): string => showArgs({ args: exec.args.slice(from) })
  const old = exec.command ?? ''
  const outer = change.expected.args.slice(0, change.removed).join(' ')
  return {
    file: entry.file ?? '',
    user: entry.name,
    context,
    isUndo,
    change,
    before: `${old} ${isUndo ? `${outer} ` : ''}${shown(change.removed)}`.trim(),
    after:
      `${change.command} ${change.inserted.join(' ')}${isUndo ? '' : ' '}${shown(change.removed)}`.trim(),
  }
}

function refuse(context: string, what: string): NotSupportedError {
  return new NotSupportedError(`context ${JSON.stringify(context)} ${what}`, {
    hint: 'Choose another context; kubecred status lists them with their plugins.',
  })
}
