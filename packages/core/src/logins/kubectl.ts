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
import { SIGNER_PATH_PARAMETERS } from '../kubeconfig/external-signer-config.ts'
import type { ClusterEntry, Kubeconfig, UserEntry } from '../kubeconfig/kubeconfig.ts'
import { parseKubeconfig } from '../kubeconfig/parse-kubeconfig.ts'
import { resolveClusterPaths, resolveUserPaths } from '../kubeconfig/paths.ts'
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
import { infoOf, type LoginMethodContext, type LoginMethodOptions } from './login-method.ts'
import { isSameCluster, isSameUser, readFiles } from './original-entries.ts'

export interface KubectlLoginOptions extends LoginMethodOptions {
  /** The program to ask: a name to look up in PATH, or a path. By default `kubectl`. */
  readonly command?: string | undefined
  /** The context to use in place of the current one. */
  readonly context?: string | undefined
  /** The file to use in place of those that kubectl finds by itself. */
  readonly kubeconfig?: string | undefined
  /** What kubectl sees, and where it is looked up; the environment of the process unless given. */
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
/** The longest a timer of Node can wait. */
const MAX_TIMEOUT_MS = 2_147_483_647

/**
 * Logs in as an installed kubectl would. It only prints its configuration: plugins run our way, under our policy.
 *
 * @returns Undefined when there is no kubectl, or it has no current context.
 * @throws {LoginToolFailedError} When it does not answer, or with something else than a kubeconfig.
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
    return infoOf(connection, context, { priority, trustEnv })
  } catch (error) {
    if (error instanceof KubeconfigEmptyError && kubeconfig === undefined) return undefined
    throw error
  }
}

/** How kubectl is asked. */
export interface KubectlCall {
  readonly command: string
  /** The file to read in place of those that kubectl finds by itself. */
  readonly kubeconfig: string | undefined
  readonly env: Environment
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly warn: (message: string) => void
}

/** As large as we let a kubeconfig be. */
const MAX_BYTES = 8 * 1024 * 1024
const MAX_LINE = 200

/**
 * Asks kubectl for its whole configuration.
 *
 * Neither minified nor flattened: files stay files, which are read again when they change, and a broken
 * entry that is not used does no harm.
 *
 * @returns Undefined when there is no such program.
 * @throws {LoginToolFailedError} What it printed is never part of it.
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
  return readPrinted(command, printedBy(outcome, call))
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
    hint: 'Make it executable, or name another program as command.',
  })
}

function printedBy(outcome: RunOutcome, { command, timeoutMs }: KubectlCall): Uint8Array {
  const { stderrTail } = runFacts({ ...outcome, stderrTail: unquoted(outcome.stderrTail) }, [])
  const fail = (what: string, hint?: string): never => {
    throw new LoginToolFailedError(command, what, { stderrTail, hint })
  }
  switch (outcome.ended) {
    case 'exited':
      if (outcome.status === 0) return outcome.stdout
      return fail(
        `failed with exit code ${outcome.status}${lastLine(stderrTail)}`,
        `Run "${command} config view" by hand to see more.`,
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
 * Takes out the pieces of a kubeconfig that kubectl quotes when it cannot read it: until 1.22 with what stands
 * around the mistake, `...|{"token":["abc|...`, and always the name of an anchor, which a password may look like.
 */
function unquoted(stderr: string): string {
  const start = stderr.indexOf('...|')
  const end = stderr.indexOf('|...')
  // Of a quotation whose beginning is cut off, everything.
  if (end !== -1 && (start === -1 || end < start)) return ''
  const before = start === -1 ? stderr : `${stderr.slice(0, start)}…`
  return before.replace(/unknown anchor '.*'/g, "unknown anchor '…'").replace(/`[^`]*`/g, '`…`')
}

/** kubectl says what is wrong in its last line. */
function lastLine(stderr = ''): string {
  const line = stderr.trim().split('\n').at(-1)?.slice(0, MAX_LINE).replace(/\.$/, '')
  return line ? `: ${line}` : ''
}

function readPrinted(command: string, bytes: Uint8Array): Kubeconfig {
  try {
    return parseKubeconfig(parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch (error) {
    const what =
      bytes.length === 0 ? 'printed nothing' : `printed no kubeconfig: ${reasonOf(error)}`
    throw new LoginToolFailedError(command, what, {
      hint: `Run "${command} config view --output=json" by hand: it must print a kubeconfig and nothing else.`,
    })
  }
}

/** Only errors that are known to hold no piece of what was printed. */
function reasonOf(error: unknown): string {
  if (error instanceof JsonError) return error.message
  if (error instanceof KubeconfigSyntaxError)
    return error.message.replace(/^kubeconfig "[^"]*": /, '')
  return 'it is no UTF-8 text'
}

interface Places {
  readonly command: string
  readonly kubeconfig: string | undefined
  readonly env: Environment
  readonly cwd: string
}

/**
 * Finds the entries in their files, which kubectl does not tell: relative paths start there, new tokens of an issuer
 * are found there, and an old kubectl leaves out what it does not know.
 *
 * @throws {LoginToolFailedError} When a path is relative and the file is not found, as behind a wrapper of kubectl.
 */
export async function withOrigins(selection: Selection, places: Places): Promise<Selection> {
  const { kubeconfig, env, cwd, command } = places
  const files = await readFiles({ kubeconfig, env }, cwd)
  const cluster = findCluster(selection.cluster, files, cwd) ?? selection.cluster
  const user = findUser(selection.user, files, cwd) ?? selection.user
  if (cluster.file === undefined) refuseRelative('cluster', cluster, pathsOfCluster, places)
  if (user.file === undefined) refuseRelative('user', user, pathsOfUser, places)
  return { ...selection, cluster, user, origin: command }
}

/** kubectl takes an entry from the first file that has one of its name. */
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

function refuseRelative<E extends { readonly name: string }>(
  kind: string,
  entry: E,
  pathsOf: (entry: E, cwd: string) => readonly (string | undefined)[],
  { command }: Places,
): void {
  // Only a relative path is another one seen from elsewhere.
  const [here, elsewhere] = [pathsOf(entry, '/1'), pathsOf(entry, '/2')]
  const isRelative = here.some((path, at) => path !== elsewhere[at])
  if (!isRelative) return
  throw new LoginToolFailedError(
    command,
    `names a file of ${kind} ${quoteName(entry.name)} by a relative path, and does not say where that starts`,
    { hint: 'Write the path in full, or pass the file of the entry as kubeconfig.' },
  )
}

function pathsOfCluster(entry: ClusterEntry, cwd: string): readonly (string | undefined)[] {
  return [resolveClusterPaths(entry, cwd, NODE_PATHS).certificateAuthority]
}

function pathsOfUser(entry: UserEntry, cwd: string): readonly (string | undefined)[] {
  const { clientCertificate, clientKey, tokenFile, exec, authProvider } = resolveUserPaths(
    entry,
    cwd,
    NODE_PATHS,
  )
  const places = ['idp-certificate-authority', ...Object.keys(SIGNER_PATH_PARAMETERS)]
  const inProvider = places.map((name) => authProvider?.config.get(name)?.expose())
  return [clientCertificate, clientKey, tokenFile, exec?.command, ...inProvider]
}
