import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'
import { findLoginCommand } from './login-command.ts'
import { quoteAdvice, stderrExcerpt } from './stderr-excerpt.ts'

/** Codes 30 to 51: exec plugins, and the policy that allows them. */
export const PLUGIN_CODES = {
  ERR_PLUGIN_NOT_FOUND: facts(
    30,
    'plugin',
    'final',
    'The credential plugin was not found: it is not installed, or not in PATH.',
    'Install the plugin, or set exec.command to its full path.',
  ),
  ERR_PLUGIN_NOT_EXECUTABLE: facts(
    31,
    'plugin',
    'final',
    'The file named by exec.command exists but cannot be executed.',
    'Check that it is a regular file with execute permission.',
  ),
  ERR_PLUGIN_EXEC_FORMAT: facts(
    32,
    'plugin',
    'final',
    'The operating system cannot execute the file: wrong architecture, or a missing interpreter.',
    'Install the build for this platform, or the interpreter named in its first line.',
  ),
  ERR_PLUGIN_EXITED: facts(
    33,
    'plugin',
    'retryable',
    'The plugin exited with a non-zero status.',
    'Read the last lines of its standard error, and run the plugin in a terminal.',
  ),
  ERR_PLUGIN_KILLED: facts(
    34,
    'plugin',
    'retryable',
    'The plugin was terminated by a signal that this library did not send.',
    'Find out what sent the signal; often it is the out-of-memory killer.',
  ),
  ERR_PLUGIN_TIMED_OUT: facts(
    35,
    'plugin',
    'retryable',
    'The plugin did not finish within its time limit and was stopped.',
    'Run the plugin in a terminal to see what it waits for, or raise policy.pluginTimeoutMs.',
  ),
  ERR_PLUGIN_OUTPUT_TOO_LARGE: facts(
    36,
    'plugin',
    'final',
    'The plugin printed more to standard output than the limit allows, and was stopped.',
    'Make the plugin print only the ExecCredential to standard output.',
  ),
  ERR_PLUGIN_NO_OUTPUT: facts(
    37,
    'plugin',
    'retryable',
    'The plugin exited with status 0 but printed nothing to standard output.',
    'Check exec.args: some plugins print nothing if a subcommand is missing.',
  ),
  ERR_PLUGIN_SYNTAX: facts(
    38,
    'plugin',
    'final',
    'The standard output of the plugin is neither JSON nor YAML.',
    'Make the plugin print only the ExecCredential to standard output, messages to standard error.',
  ),
  ERR_PLUGIN_VERSION: facts(
    39,
    'plugin',
    'final',
    'The plugin returned an ExecCredential of another API version than exec.apiVersion.',
    'Set exec.apiVersion to the version that the plugin returns, or update the plugin.',
  ),
  ERR_PLUGIN_OUTPUT_INVALID: facts(
    40,
    'plugin',
    'final',
    'The plugin printed an object that is not a valid ExecCredential.',
    'Correct the field named in the message.',
  ),
  ERR_PLUGIN_CERTIFICATE: facts(
    41,
    'plugin',
    'retryable',
    'The certificate or key that the plugin returned cannot be used.',
    'Log in again with the plugin, or clear its cache.',
  ),
  ERR_PLUGIN_INPUT_TOO_LARGE: facts(
    42,
    'plugin',
    'final',
    'The environment for the plugin is larger than the operating system allows.',
    'Set provideClusterInfo: false, or shorten the CA bundle or the cluster extension.',
  ),
  ERR_PLUGIN_ENVIRONMENT: facts(
    43,
    'plugin',
    'final',
    'An argument or environment variable in the exec stanza cannot be passed to a process.',
    'Remove NUL bytes from exec.args and exec.env.',
  ),
  ERR_PLUGIN_NEEDS_TERMINAL: facts(
    44,
    'plugin',
    'final',
    'The plugin needs user input (interactiveMode: Always), but standard input is not available to it.',
    'Run the program in a terminal, or use a plugin that needs no input.',
  ),
  ERR_PLUGIN_NOT_STARTED: facts(
    45,
    'plugin',
    'retryable',
    'The plugin could not be started.',
    'Free file descriptors, processes or memory, and try again.',
  ),
  ERR_PLUGIN_DENIED: facts(
    50,
    'policy',
    'final',
    'The plugin policy does not allow this plugin.',
    'Add the plugin to credentialPluginAllowlist in kuberc, if you trust it.',
  ),
  ERR_POLICY_INVALID: facts(
    51,
    'policy',
    'final',
    'The plugin policy is invalid or its file is not trustworthy, so no plugin is run.',
    'Correct the kuberc file named in the message, or its owner and permissions.',
  ),
} as const

abstract class PluginFamilyError<C extends keyof typeof PLUGIN_CODES> extends CredentialError<C> {
  protected override codeFacts(): CodeFacts {
    return PLUGIN_CODES[this.code]
  }
}

/** What is known about a failed run. It never contains the standard output. */
export interface PluginRunFacts extends ErrorInit {
  /** What the program is for; `credential plugin` by default. */
  readonly role?: 'credential plugin' | 'signer' | undefined
  /** How long the run took, in milliseconds. */
  readonly tookMs?: number | undefined
  /** The last lines of standard error, scrubbed. */
  readonly stderrTail?: string | undefined
}

/** What the errors about one plugin have in common. The last lines of its standard error end the message. */
abstract class PluginError<C extends PluginCode> extends PluginFamilyError<C> {
  /** The command as configured. */
  readonly command: string
  /** How long the run took, in milliseconds; absent if the plugin was not started. */
  declare readonly tookMs?: number
  /** The last lines of standard error, scrubbed; absent if there were none. */
  declare readonly stderrTail?: string
  readonly #summary: string

  /** @param separator What separates standard error from the rest of the message. */
  constructor(command: string, what: string, facts: PluginRunFacts = {}, separator = '; stderr: ') {
    const summary = `${facts.role ?? 'credential plugin'} ${JSON.stringify(command)} ${what}`
    const excerpt = stderrExcerpt(facts.stderrTail)
    super(excerpt === undefined ? summary : `${summary}${separator}${excerpt}`, facts)
    this.#summary = summary
    this.command = command
    if (facts.tookMs !== undefined) this.tookMs = facts.tookMs
    if (facts.stderrTail !== undefined) this.stderrTail = facts.stderrTail
  }

  override get summary(): string {
    return this.#summary
  }
}

/**
 * A run that failed for a reason that only the plugin knows. Its standard error is the reason, and the hint quotes what
 * the plugin asks the user to do.
 */
abstract class PluginRunError<C extends PluginCode> extends PluginError<C> {
  /**
   * The command with which the plugin asks the user to log in, such as `aws sso login`; absent if it names none.
   *
   * Show it, but do not run it: a plugin can print any command.
   */
  declare readonly loginCommand?: string

  constructor(command: string, what: string, facts: PluginRunFacts = {}) {
    super(command, what, { ...facts, hint: quoteAdvice(facts.stderrTail) ?? facts.hint }, ': ')
    const loginCommand = findLoginCommand(facts.stderrTail)
    if (loginCommand !== undefined) this.loginCommand = loginCommand
  }
}

/** The program is not installed, or not in PATH. */
export class PluginNotFoundError extends PluginError<'ERR_PLUGIN_NOT_FOUND'> {
  static readonly code = 'ERR_PLUGIN_NOT_FOUND'
}

/** The file of the plugin exists but cannot be executed. */
export class PluginNotExecutableError extends PluginError<'ERR_PLUGIN_NOT_EXECUTABLE'> {
  static readonly code = 'ERR_PLUGIN_NOT_EXECUTABLE'
}

/** The operating system cannot execute the file: another architecture, or a missing interpreter. */
export class PluginExecFormatError extends PluginError<'ERR_PLUGIN_EXEC_FORMAT'> {
  static readonly code = 'ERR_PLUGIN_EXEC_FORMAT'
}

/** The plugin exited with a non-zero status. */
export class PluginExitedError extends PluginRunError<'ERR_PLUGIN_EXITED'> {
  static readonly code = 'ERR_PLUGIN_EXITED'
  readonly exitStatus: number

  constructor(command: string, exitStatus: number, facts: PluginRunFacts = {}) {
    super(command, `failed with exit code ${exitStatus}`, facts)
    this.exitStatus = exitStatus
  }
}

/** The plugin was terminated by a signal that this library did not send. */
export class PluginKilledError extends PluginRunError<'ERR_PLUGIN_KILLED'> {
  static readonly code = 'ERR_PLUGIN_KILLED'
  readonly signal: string

  constructor(command: string, signal: string, facts: PluginRunFacts = {}) {
    super(command, `was terminated by ${signal}`, facts)
    this.signal = signal
  }
}

/** The plugin did not finish within its time limit. */
export class PluginTimedOutError extends PluginRunError<'ERR_PLUGIN_TIMED_OUT'> {
  static readonly code = 'ERR_PLUGIN_TIMED_OUT'
}

/** The plugin printed more to standard output than the limit allows. */
export class PluginOutputTooLargeError extends PluginError<'ERR_PLUGIN_OUTPUT_TOO_LARGE'> {
  static readonly code = 'ERR_PLUGIN_OUTPUT_TOO_LARGE'
}

/** The plugin exited with status 0 without any output. */
export class PluginNoOutputError extends PluginRunError<'ERR_PLUGIN_NO_OUTPUT'> {
  static readonly code = 'ERR_PLUGIN_NO_OUTPUT'
}

/** The standard output is neither JSON nor YAML. */
export class PluginSyntaxError extends PluginError<'ERR_PLUGIN_SYNTAX'> {
  static readonly code = 'ERR_PLUGIN_SYNTAX'
}

/** The ExecCredential has another API version than `exec.apiVersion`. */
export class PluginVersionError extends PluginError<'ERR_PLUGIN_VERSION'> {
  static readonly code = 'ERR_PLUGIN_VERSION'
}

/** The output is not a valid ExecCredential; `path` names the first invalid field. */
export class PluginOutputInvalidError extends PluginError<'ERR_PLUGIN_OUTPUT_INVALID'> {
  static readonly code = 'ERR_PLUGIN_OUTPUT_INVALID'
  readonly path: string

  constructor(command: string, path: string, what: string, facts: PluginRunFacts = {}) {
    super(command, what, facts)
    this.path = path
  }
}

/** The certificate or key in the ExecCredential cannot be used. */
export class PluginCertificateError extends PluginError<'ERR_PLUGIN_CERTIFICATE'> {
  static readonly code = 'ERR_PLUGIN_CERTIFICATE'
}

/** The arguments and environment are larger than the operating system allows. */
export class PluginInputTooLargeError extends PluginError<'ERR_PLUGIN_INPUT_TOO_LARGE'> {
  static readonly code = 'ERR_PLUGIN_INPUT_TOO_LARGE'
}

/** An argument or environment variable cannot be passed to a process. */
export class PluginEnvironmentError extends PluginError<'ERR_PLUGIN_ENVIRONMENT'> {
  static readonly code = 'ERR_PLUGIN_ENVIRONMENT'
}

/** The plugin needs user input, but standard input is not available to it. */
export class PluginNeedsTerminalError extends PluginError<'ERR_PLUGIN_NEEDS_TERMINAL'> {
  static readonly code = 'ERR_PLUGIN_NEEDS_TERMINAL'
}

/** The operating system could not start the plugin, or the connection was closed before. */
export class PluginNotStartedError extends PluginError<'ERR_PLUGIN_NOT_STARTED'> {
  static readonly code = 'ERR_PLUGIN_NOT_STARTED'
}

/** The plugin policy does not allow this plugin. */
export class PluginDeniedError extends PluginError<'ERR_PLUGIN_DENIED'> {
  static readonly code = 'ERR_PLUGIN_DENIED'
}

/** The plugin policy is invalid or its file is not trustworthy: no plugin is run. */
export class PolicyInvalidError extends PluginFamilyError<'ERR_POLICY_INVALID'> {
  static readonly code = 'ERR_POLICY_INVALID'
}

type PluginCode =
  | 'ERR_PLUGIN_NOT_FOUND'
  | 'ERR_PLUGIN_NOT_EXECUTABLE'
  | 'ERR_PLUGIN_EXEC_FORMAT'
  | 'ERR_PLUGIN_EXITED'
  | 'ERR_PLUGIN_KILLED'
  | 'ERR_PLUGIN_TIMED_OUT'
  | 'ERR_PLUGIN_OUTPUT_TOO_LARGE'
  | 'ERR_PLUGIN_NO_OUTPUT'
  | 'ERR_PLUGIN_SYNTAX'
  | 'ERR_PLUGIN_VERSION'
  | 'ERR_PLUGIN_OUTPUT_INVALID'
  | 'ERR_PLUGIN_CERTIFICATE'
  | 'ERR_PLUGIN_INPUT_TOO_LARGE'
  | 'ERR_PLUGIN_ENVIRONMENT'
  | 'ERR_PLUGIN_NEEDS_TERMINAL'
  | 'ERR_PLUGIN_NOT_STARTED'
  | 'ERR_PLUGIN_DENIED'
