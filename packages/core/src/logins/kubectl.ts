import { resolve } from 'node:path'
import process from 'node:process'
import {
  KubeconfigEmptyError,
  KubeconfigSyntaxError,
  LoginToolFailedError,
} from '../errors/index.ts'
import { checkOptionNames } from '../errors/option-names.ts'
import { JsonError, parseJson } from '../formats/json.ts'
import type { Environment } from '../formats/plain-object.ts'
import { buildSelectedConnection } from '../kubeconfig/build-connection.ts'
import type { ClusterEntry, Kubeconfig, UserEntry } from '../kubeconfig/kubeconfig.ts'
import { parseKubeconfig } from '../kubeconfig/parse-kubeconfig.ts'
import { relativeClusterPaths, relativeUserPaths } from '../kubeconfig/paths.ts'
import { quoteName } from '../kubeconfig/problem.ts'
import { type Selection, selectEntries } from '../kubeconfig/select-entries.ts'
import { hostEnvironment } from '../node/environment.ts'
import { NODE_PATHS } from '../node/load-kubeconfig.ts'
import { nodePrograms } from '../node/node-programs.ts'
import { pluginEnvironment } from '../plugin/plugin-environment.ts'
import type { Located, RunOutcome } from '../ports/programs.ts'
import { showControlCharacters } from '../secret/scrub.ts'
import { Secret } from '../secret/secret.ts'
import { runFacts } from '../sources/plugin-run-errors.ts'
import type { ConnectionInfo } from '../vault/connection-info.ts'
import {
  type LoginMethodContext,
  type LoginMethodOptions,
  toConnectionInfo,
} from './login-method.ts'
import { isSameCluster, isSameUser, readAvailableKubeconfigs } from './original-entries.ts'

/** Options of `loginViaKubectl()`. */
export interface KubectlLoginOptions extends LoginMethodOptions {
  /** The program to run: a name to look up in PATH, or a path. By default `kubectl`. */
  readonly command?: string | undefined
  /** The context to use in place of the current one. */
  readonly context?: string | undefined
  /** The file to use in place of those that kubectl finds by itself. */
  readonly kubeconfig?: string | undefined
  /** The environment of kubectl, whose PATH is searched for it; by default that of the process. */
  readonly env?: Environment | undefined
  /** How long kubectl may take: 60 s. */
  readonly timeoutMs?: number | undefined
  /** 10 by default. */
  readonly priority?: number | undefined
}

const OPTIONS = Object.keys({
  command: true,
  context: true,
  kubeconfig: true,
  env: true,
  timeoutMs: true,
  priority: true,
  trustEnv: true,
} satisfies Record<keyof KubectlLoginOptions, true>)

const TIMEOUT_MS = 60_000
/** The limit of Node's timers. */
const MAX_TIMEOUT_MS = 2_147_483_647

/**
 * Logs in with the configuration that an installed kubectl prints. Plugins are run by kubecred, under its policy.
 *
 * @returns Undefined if there is no kubectl, or it has no current context.
 * @throws {LoginToolFailedError} `ERR_LOGIN_TOOL_FAILED` if kubectl fails, or does not print a kubeconfig.
 *
 * @example
 * const vault = new Vault()
 * vault.onLogin((context) => loginViaKubectl(context, { context: 'production' }), { id: 'kubectl' })
 */
export async function loginViaKubectl(
  context: LoginMethodContext,
  options: KubectlLoginOptions = {},
): Promise<ConnectionInfo | undefined> {
  checkOptionNames(options, 'loginViaKubectl()', OPTIONS)
  const { command = 'kubectl', env = hostEnvironment(), timeoutMs = TIMEOUT_MS } = options
  if (!(Number.isSafeInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw new TypeError(`timeoutMs must be a whole number above 0, got ${String(timeoutMs)}`)
  }
  const { signal, logger } = context
  signal.throwIfAborted()
  const cwd = process.cwd()
  const kubeconfig = options.kubeconfig ? resolve(cwd, options.kubeconfig) : undefined
  const warn = (message: string): void => logger?.warn(message)
  const config = await readKubectlConfig({ command, kubeconfig, env, timeoutMs, signal, warn })
  if (config === undefined) return undefined
  const overrides = { context: options.context }
  try {
    const selection = selectEntries(config, overrides, `${command} has no configuration`)
    const completed = await withOrigins(selection, { command, kubeconfig, env, cwd })
    const connection = buildSelectedConnection(completed, overrides, { paths: NODE_PATHS, cwd })
    const { priority = 10, trustEnv } = options
    return toConnectionInfo(connection, context, { priority, trustEnv })
  } catch (error) {
    if (error instanceof KubeconfigEmptyError && kubeconfig === undefined) return undefined
    throw error
  }
}

/** How to run kubectl. */
export interface KubectlCall {
  readonly command: string
  /** The file to read in place of those that kubectl finds by itself. */
  readonly kubeconfig: string | undefined
  readonly env: Environment
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly warn: (message: string) => void
}

/** The maximum size of what kubectl prints. */
const MAX_BYTES = 8 * 1024 * 1024
const MAX_LINE = 200

/**
 * Reads the whole configuration from kubectl.
 *
 * Neither minified nor flattened: files stay files, which are read again when they change, and a broken entry that is
 * not used is not an error.
 *
 * @returns Undefined if there is no such program.
 * @throws {LoginToolFailedError} `ERR_LOGIN_TOOL_FAILED`. It never holds what kubectl printed to standard output.
 */
export async function readKubectlConfig(call: KubectlCall): Promise<Kubeconfig | undefined> {
  const { command, kubeconfig, env, timeoutMs, signal } = call
  const programs = nodePrograms(env)
  const located = await programs.locate(command)
  if (located.is === 'missing') return undefined
  const { path } = usable(located, call)
  const file = kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]
  const outcome = await programs.run({
    command,
    path,
    args: [...file, 'config', 'view', '--raw', '--output=json'].map((arg) => new Secret(arg)),
    env: pluginEnvironment(env),
    interactive: false,
    timeoutMs,
    stdoutLimit: MAX_BYTES,
    signal,
  })
  signal.throwIfAborted()
  return parseStdout(command, readStdout(outcome, call))
}

function usable(
  located: Exclude<Located, { is: 'missing' }>,
  { command, warn }: KubectlCall,
): Extract<Located, { is: 'found' }> {
  if (located.is === 'found') {
    if (located.writableByOthers !== undefined) warn(located.writableByOthers)
    return located
  }
  const where = showControlCharacters(JSON.stringify(located.path))
  throw new LoginToolFailedError(command, `cannot run: ${located.reason} (${where})`, {
    hint: 'Make it executable, or pass another program as command.',
  })
}

function readStdout(outcome: RunOutcome, { command, timeoutMs }: KubectlCall): Uint8Array {
  const { stderrTail } = runFacts({ ...outcome, stderrTail: withoutQuotes(outcome.stderrTail) }, [])
  const fail = (what: string, hint?: string): never => {
    throw new LoginToolFailedError(command, what, { stderrTail, hint })
  }
  switch (outcome.ended) {
    case 'exited':
      if (outcome.status === 0) return outcome.stdout
      return fail(
        `failed with exit code ${outcome.status}${lastLine(stderrTail)}`,
        `Run "${command} config view" in a terminal to see more.`,
      )
    case 'killed':
      return fail(`was ended by ${outcome.signal}`)
    case 'timed-out':
      return fail(`did not answer within ${timeoutMs} ms and was stopped`)
    case 'output-too-large':
      return fail(`printed more than ${MAX_BYTES} bytes and was stopped`)
    case 'aborted':
      return fail('was stopped')
    case 'not-started':
      return fail(`cannot start: ${outcome.errno} (${outcome.reason})`)
  }
}

/**
 * Removes the pieces of a kubeconfig that kubectl quotes when it cannot read it: until 1.22 the text around the mistake,
 * `...|{"token":["abc|...`, and in all versions the name of an anchor, which a password may look like.
 */
function withoutQuotes(stderr: string): string {
  const start = stderr.indexOf('...|')
  const end = stderr.indexOf('|...')
  // The beginning of the quotation is cut off: nothing before its end can be trusted.
  if (end !== -1 && (start === -1 || end < start)) return ''
  const before = start === -1 ? stderr : `${stderr.slice(0, start)}…`
  return before.replace(/unknown anchor '.*'/g, "unknown anchor '…'").replace(/`[^`]*`/g, '`…`')
}

/** kubectl prints the error in its last line. */
function lastLine(stderr = ''): string {
  const line = stderr.trim().split('\n').at(-1)?.slice(0, MAX_LINE).replace(/\.$/, '')
  return line ? `: ${line}` : ''
}

function parseStdout(command: string, bytes: Uint8Array): Kubeconfig {
  try {
    return parseKubeconfig(parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch (error) {
    const what =
      bytes.length === 0
        ? 'printed nothing'
        : `printed something that is not a kubeconfig: ${reasonOf(error)}`
    throw new LoginToolFailedError(command, what, {
      hint: `Run "${command} config view --output=json" in a terminal: it must print a kubeconfig and nothing else.`,
    })
  }
}

/** Quotes only errors that are known not to hold a piece of the output. */
function reasonOf(error: unknown): string {
  if (error instanceof JsonError) return error.message
  if (error instanceof KubeconfigSyntaxError)
    return error.message.replace(/^the given kubeconfig: /, '')
  return 'it is not UTF-8 text'
}

interface KubectlConfigSources {
  readonly command: string
  readonly kubeconfig: string | undefined
  readonly env: Environment
  readonly cwd: string
}

/**
 * Finds the files of the selected entries, which kubectl does not print: relative paths resolve against their folder,
 * refreshed OIDC tokens are read from them, and an old kubectl drops fields it does not know.
 *
 * @throws {LoginToolFailedError} `ERR_LOGIN_TOOL_FAILED` if a path is relative and its file is not found, as with a kubectl wrapper.
 */
export async function withOrigins(
  selection: Selection,
  places: KubectlConfigSources,
): Promise<Selection> {
  const { kubeconfig, env, cwd, command } = places
  const files = await readAvailableKubeconfigs({ kubeconfig, env }, cwd)
  const cluster = findCluster(selection.cluster, files, cwd) ?? selection.cluster
  const user = findUser(selection.user, files, cwd) ?? selection.user
  const inCluster = cluster.file === undefined ? relativeClusterPaths(cluster, NODE_PATHS) : []
  const inUser = user.file === undefined ? relativeUserPaths(user, NODE_PATHS) : []
  if (inCluster.length > 0) throw relativePathError(command, 'cluster', cluster.name)
  if (inUser.length > 0) throw relativePathError(command, 'user', user.name)
  return { ...selection, cluster, user, origin: command }
}

/** Takes the entry from the first file that has one of its name, as kubectl does. */
function findCluster(
  entry: ClusterEntry,
  files: readonly Kubeconfig[],
  cwd: string,
): ClusterEntry | undefined {
  const found = files.find(({ clusters }) => clusters.has(entry.name))?.clusters.get(entry.name)
  const isIt = found !== undefined && isSameCluster(found, { ...entry, file: found.file }, cwd)
  return isIt ? found : undefined
}

function findUser(
  entry: UserEntry,
  files: readonly Kubeconfig[],
  cwd: string,
): UserEntry | undefined {
  const found = files.find(({ users }) => users.has(entry.name))?.users.get(entry.name)
  const isIt =
    found !== undefined &&
    found.tokenFile === entry.tokenFile &&
    isSameUser(found, { ...entry, file: found.file }, cwd)
  return isIt ? found : undefined
}

function relativePathError(command: string, kind: string, name: string): LoginToolFailedError {
  return new LoginToolFailedError(
    command,
    `printed a relative path for ${kind} ${quoteName(name)}, but not the file it is relative to`,
    { hint: 'Write the path in full, or pass the file of the entry as kubeconfig.' },
  )
}
