import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { basename, isAbsolute } from 'node:path'
import process from 'node:process'
import { LoginShellError } from '../errors/index.ts'
import { checkOptionNames } from '../errors/option-names.ts'
import type { Environment } from '../formats/plain-object.ts'
import { pluginEnvironment } from '../plugin/plugin-environment.ts'
import type { RunFailure } from '../ports/programs.ts'
import { showControlCharacters } from '../secret/scrub.ts'
import { Secret } from '../secret/secret.ts'
import { hostEnvironment } from './environment.ts'
import { findExecutable, runProcess } from './node-programs.ts'

/** Options of `loginShellEnvironment()`. */
export interface LoginShellOptions {
  /**
   * Names of further variables to take from the shell, also if this process has them.
   *
   * @defaultValue none
   */
  readonly names?: readonly string[] | undefined
  /**
   * The shell to run, as an absolute path.
   *
   * @defaultValue the login shell of the user's account, else `SHELL`
   */
  readonly shell?: string | undefined
  /**
   * Stops the shell when aborted.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined
  /**
   * The environment that the shell starts with, and that the result extends.
   *
   * @defaultValue `process.env`
   */
  readonly env?: Environment | undefined
}

/** How long the start-up files of the shell may take. */
const TIMEOUT_MS = 5000
/** How much they and our command may print. */
const MAX_OUTPUT_BYTES = 1024 * 1024
/** Set for the shell. A program that its start-up files start must not start the shell again. */
const GUARD = 'KUBECRED_LOGIN_SHELL'

/** The variables that are taken if this process does not have them, and PATH. They select accounts, files and proxies; none of them is a key or a token. */
export const LOGIN_SHELL_NAMES: readonly string[] = [
  'PATH',
  ...['KUBECONFIG', 'KUBERC', 'KUBECTL_KUBERC'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY'],
  ...['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE'],
  ...['AWS_PROFILE', 'AWS_DEFAULT_PROFILE', 'AWS_REGION', 'AWS_DEFAULT_REGION'],
  ...['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_CA_BUNDLE'],
  ...['AZURE_CONFIG_DIR', 'AAD_LOGIN_METHOD', 'TELEPORT_HOME', 'TELEPORT_PROXY'],
  ...['CLOUDSDK_CONFIG', 'CLOUDSDK_ACTIVE_CONFIG_NAME', 'CLOUDSDK_PYTHON'],
  ...['GOOGLE_APPLICATION_CREDENTIALS', 'USE_GKE_GCLOUD_AUTH_PLUGIN'],
  ...['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'LANG', 'LC_ALL', 'LC_CTYPE'],
]

/**
 * Returns the environment of this process with PATH, and other variables that plugins need, of the user's login shell.
 *
 * For programs that were not started from a shell, such as desktop programs: their PATH lacks the folders that the
 * start-up files of the shell add. This runs these files, as a new terminal does; call it once, when the program starts.
 * They have 5 s. Of the other variables only those of a fixed list are taken (docs/desktop.md), if this process does not
 * have them, and those of `names`.
 *
 * On Windows, programs have the user's whole environment: it is returned unchanged, and nothing is run.
 *
 * @throws {LoginShellError} `ERR_LOGIN_SHELL` if the shell cannot be run, or does not report its environment.
 *
 * @example
 * const env = await loginShellEnvironment({ names: ['SSH_AUTH_SOCK'] }).catch(() => process.env)
 * const cluster = await connect({ env })
 */
export async function loginShellEnvironment(
  options: LoginShellOptions = {},
): Promise<Record<string, string | undefined>> {
  checkOptionNames(options, 'loginShellEnvironment()', ['names', 'shell', 'signal', 'env'])
  const { names = [], signal, env = hostEnvironment() } = options
  const wanted = [...new Set([...LOGIN_SHELL_NAMES, ...names.map(checkName)])]
  signal?.throwIfAborted()
  if (process.platform === 'win32' || env[GUARD] !== undefined) return { ...env }
  const shell = options.shell ?? findShell(env)
  const { path, argv0, args } = await describeShell(shell)
  const mark = randomBytes(16).toString('hex')
  const outcome = await runProcess({
    command: argv0,
    path,
    args: [...args, reportCommand(mark, wanted)].map((arg) => new Secret(arg)),
    // A shell is not a signer.
    env: { ...pluginEnvironment(env), [GUARD]: '1' },
    interactive: false,
    timeoutMs: TIMEOUT_MS,
    stdoutLimit: MAX_OUTPUT_BYTES,
    signal: signal ?? new AbortController().signal,
  })
  signal?.throwIfAborted()
  if (outcome.ended !== 'exited') throw new LoginShellError(shell, describeFailure(outcome))
  const found = readReport(Buffer.from(outcome.stdout).toString(), mark, wanted)
  // The status is that of the last start-up file: it says nothing if the report is complete.
  if (found !== undefined) return extend(env, found, ['PATH', ...names])
  throw new LoginShellError(
    shell,
    `ended with status ${outcome.status} and did not report its environment`,
  )
}

/** Adds what was found. Of what this process was started with, only the given names are replaced. */
function extend(
  env: Environment,
  found: Environment,
  replaced: readonly string[],
): Record<string, string | undefined> {
  const replacing = Object.entries(found).filter(([name]) => replaced.includes(name))
  return { ...found, ...env, ...Object.fromEntries(replacing) }
}

/** A name becomes part of a command, so it can contain nothing that a shell would interpret. */
function checkName(name: unknown): string {
  if (typeof name === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name
  throw new TypeError(
    `names of loginShellEnvironment() takes names of variables: letters, digits and _, got ${JSON.stringify(name)}`,
  )
}

function findShell(env: Environment): string {
  const shell = shellOfAccount() || env['SHELL']
  if (shell) return shell
  throw new LoginShellError('', 'is not known: the account has none, and SHELL is not set')
}

function shellOfAccount(): string | null {
  try {
    return userInfo().shell
  } catch {
    // The user of a container may have no account.
    return null
  }
}

async function describeShell(
  shell: string,
): Promise<{ path: string; argv0: string; args: readonly string[] }> {
  if (!isAbsolute(shell)) throw new LoginShellError(shell, 'is not an absolute path')
  const located = await findExecutable(shell, { path: undefined })
  if (located.is === 'missing') throw new LoginShellError(shell, 'does not exist')
  if (located.is === 'unusable') throw new LoginShellError(shell, `cannot run: ${located.reason}`)
  const { path } = located
  const name = basename(shell)
  // For csh, -l must be the only flag. A login shell is then one whose name begins with a dash, as login(1) starts it.
  if (name === 'csh' || name === 'tcsh') return { path, argv0: `-${name}`, args: ['-i', '-c'] }
  // zsh reads .zshrc only with -i, and bash reads .bash_profile only with -l.
  return { path, argv0: shell, args: ['-l', '-i', '-c'] }
}

/**
 * Returns the command that reports the variables: the mark, each variable as NAME=VALUE or nothing, and the mark, all
 * ended by a NUL byte, which nothing else can contain.
 *
 * The shell itself may have any syntax, so it only starts sh with one quoted argument: no shell interprets anything in
 * it. The environment that sh inherits is that which a plugin would inherit.
 */
function reportCommand(mark: string, names: readonly string[]): string {
  const values = names.map((name) => `"\${${name}+${name}=$${name}}"`)
  return `/bin/sh -c 'exec 2>/dev/null; printf "%s\\0" ${mark} ${values.join(' ')} ${mark}'`
}

/** Returns undefined if the report is not complete. */
function readReport(
  output: string,
  mark: string,
  names: readonly string[],
): Record<string, string> | undefined {
  // A mark without its NUL byte is in our command, which a start-up file may have made the shell print.
  const [, report = '', ...end] = output.split(`${mark}\0`)
  const values = report.split('\0').slice(0, -1)
  if (end.length === 0 || values.length !== names.length) return undefined
  const found: Record<string, string> = {}
  for (const [index, name] of names.entries()) {
    const value = values[index] ?? ''
    if (value === '') continue
    if (!value.startsWith(`${name}=`)) return undefined
    found[name] = value.slice(name.length + 1)
  }
  return found
}

function describeFailure(outcome: RunFailure): string {
  switch (outcome.ended) {
    case 'timed-out':
      return `did not finish its start-up files within ${TIMEOUT_MS / 1000} s and was stopped`
    case 'output-too-large':
      return `printed more than ${MAX_OUTPUT_BYTES} bytes and was stopped`
    case 'killed':
      return `was ended by ${outcome.signal}`
    case 'aborted':
      return 'was stopped'
    case 'not-started':
      return `cannot start: ${showControlCharacters(outcome.reason)}`
  }
}
