import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes 30 to 51: plugins and the policy that allows them. */
export const PLUGIN_CODES = {
  ERR_PLUGIN_NOT_FOUND: facts(
    30,
    'plugin',
    'final',
    'The credential plugin is not on this machine, or not where PATH looks.',
    'Install the plugin, or give its full path in exec.command.',
  ),
  ERR_PLUGIN_NOT_EXECUTABLE: facts(
    31,
    'plugin',
    'final',
    'The file named by exec.command exists but may not be executed.',
    'Check that it is a file and has execute permission.',
  ),
  ERR_PLUGIN_EXEC_FORMAT: facts(
    32,
    'plugin',
    'final',
    'The operating system cannot run the file: wrong architecture, or a missing interpreter.',
    'Install the build for this machine, or the interpreter named in its first line.',
  ),
  ERR_PLUGIN_EXITED: facts(
    33,
    'plugin',
    'retryable',
    'The plugin ended with an exit status other than 0.',
    'Read the last lines of its standard error, and run the plugin by hand.',
  ),
  ERR_PLUGIN_KILLED: facts(
    34,
    'plugin',
    'retryable',
    'The plugin was ended by a signal that did not come from us.',
    'Look for the sender, often the kernel for lack of memory.',
  ),
  ERR_PLUGIN_TIMED_OUT: facts(
    35,
    'plugin',
    'retryable',
    'The plugin did not answer within its time limit and was stopped.',
    'Run the plugin by hand to see what it waits for, or raise policy.pluginTimeoutMs.',
  ),
  ERR_PLUGIN_OUTPUT_TOO_LARGE: facts(
    36,
    'plugin',
    'final',
    'The plugin printed more to standard output than an answer can be, and was stopped.',
    'Make the plugin print only the ExecCredential to standard output.',
  ),
  ERR_PLUGIN_NO_OUTPUT: facts(
    37,
    'plugin',
    'retryable',
    'The plugin ended with status 0 and printed nothing.',
    'Check its arguments: some plugins print nothing when a subcommand is missing.',
  ),
  ERR_PLUGIN_SYNTAX: facts(
    38,
    'plugin',
    'final',
    'What the plugin printed is neither JSON nor YAML.',
    'Make the plugin print only the ExecCredential to standard output, messages to standard error.',
  ),
  ERR_PLUGIN_VERSION: facts(
    39,
    'plugin',
    'final',
    'The plugin answered in another API version than exec.apiVersion asks for.',
    'Set exec.apiVersion to the version the plugin speaks, or update the plugin.',
  ),
  ERR_PLUGIN_OUTPUT_INVALID: facts(
    40,
    'plugin',
    'final',
    'The plugin printed an object that is not a usable ExecCredential.',
    'Correct the field that the message names.',
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
    'An argument or environment variable for the plugin cannot be passed to a process.',
    'Correct exec.args or exec.env; names and values must not contain NUL bytes.',
  ),
  ERR_PLUGIN_NEEDS_TERMINAL: facts(
    44,
    'plugin',
    'final',
    'The plugin must ask a person, and there is no terminal to ask on.',
    'Run the command in a terminal, or use a plugin that does not need one.',
  ),
  ERR_PLUGIN_NOT_STARTED: facts(
    45,
    'plugin',
    'retryable',
    'The operating system could not start another process.',
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
    'The plugin policy cannot be trusted or understood, so no plugin may run.',
    'Correct the kuberc file that the message names, or its owner and permissions.',
  ),
} as const

abstract class PluginFamilyError<C extends keyof typeof PLUGIN_CODES> extends CredentialError<C> {
  protected override get facts(): CodeFacts {
    return PLUGIN_CODES[this.code]
  }
}

/** What is known about a run that went wrong. Standard output is never part of it. */
export interface PluginRunFacts extends ErrorInit {
  /** What the program is for; a credential plugin unless told. */
  readonly role?: 'credential plugin' | 'signer' | undefined
  /** How long the run took, in milliseconds. */
  readonly tookMs?: number | undefined
  /** The last lines of standard error, scrubbed. */
  readonly stderrTail?: string | undefined
}

/** What the errors about one plugin have in common. */
abstract class PluginError<C extends PluginCode> extends PluginFamilyError<C> {
  /** The command as configured. */
  readonly command: string
  readonly tookMs: number | undefined
  readonly stderrTail: string | undefined

  constructor(command: string, what: string, facts: PluginRunFacts = {}) {
    super(`${facts.role ?? 'credential plugin'} ${JSON.stringify(command)} ${what}`, facts)
    this.command = command
    this.tookMs = facts.tookMs
    this.stderrTail = facts.stderrTail
  }
}

export class PluginNotFoundError extends PluginError<'ERR_PLUGIN_NOT_FOUND'> {
  readonly code = 'ERR_PLUGIN_NOT_FOUND' as const
}

export class PluginNotExecutableError extends PluginError<'ERR_PLUGIN_NOT_EXECUTABLE'> {
  readonly code = 'ERR_PLUGIN_NOT_EXECUTABLE' as const
}

export class PluginExecFormatError extends PluginError<'ERR_PLUGIN_EXEC_FORMAT'> {
  readonly code = 'ERR_PLUGIN_EXEC_FORMAT' as const
}

export class PluginExitedError extends PluginError<'ERR_PLUGIN_EXITED'> {
  readonly code = 'ERR_PLUGIN_EXITED' as const
  readonly exitStatus: number

  constructor(command: string, exitStatus: number, facts: PluginRunFacts = {}) {
    super(command, `failed with exit code ${exitStatus}`, facts)
    this.exitStatus = exitStatus
  }
}

export class PluginKilledError extends PluginError<'ERR_PLUGIN_KILLED'> {
  readonly code = 'ERR_PLUGIN_KILLED' as const
  readonly signal: string

  constructor(command: string, signal: string, facts: PluginRunFacts = {}) {
    super(command, `was ended by ${signal}`, facts)
    this.signal = signal
  }
}

export class PluginTimedOutError extends PluginError<'ERR_PLUGIN_TIMED_OUT'> {
  readonly code = 'ERR_PLUGIN_TIMED_OUT' as const
}

export class PluginOutputTooLargeError extends PluginError<'ERR_PLUGIN_OUTPUT_TOO_LARGE'> {
  readonly code = 'ERR_PLUGIN_OUTPUT_TOO_LARGE' as const
}

export class PluginNoOutputError extends PluginError<'ERR_PLUGIN_NO_OUTPUT'> {
  readonly code = 'ERR_PLUGIN_NO_OUTPUT' as const
}

export class PluginSyntaxError extends PluginError<'ERR_PLUGIN_SYNTAX'> {
  readonly code = 'ERR_PLUGIN_SYNTAX' as const
}

export class PluginVersionError extends PluginError<'ERR_PLUGIN_VERSION'> {
  readonly code = 'ERR_PLUGIN_VERSION' as const
}

/** An answer of the wrong shape; `path` names the first field that is wrong. */
export class PluginOutputInvalidError extends PluginError<'ERR_PLUGIN_OUTPUT_INVALID'> {
  readonly code = 'ERR_PLUGIN_OUTPUT_INVALID' as const
  readonly path: string

  constructor(command: string, path: string, what: string, facts: PluginRunFacts = {}) {
    super(command, what, facts)
    this.path = path
  }
}

export class PluginCertificateError extends PluginError<'ERR_PLUGIN_CERTIFICATE'> {
  readonly code = 'ERR_PLUGIN_CERTIFICATE' as const
}

export class PluginInputTooLargeError extends PluginError<'ERR_PLUGIN_INPUT_TOO_LARGE'> {
  readonly code = 'ERR_PLUGIN_INPUT_TOO_LARGE' as const
}

export class PluginEnvironmentError extends PluginError<'ERR_PLUGIN_ENVIRONMENT'> {
  readonly code = 'ERR_PLUGIN_ENVIRONMENT' as const
}

export class PluginNeedsTerminalError extends PluginError<'ERR_PLUGIN_NEEDS_TERMINAL'> {
  readonly code = 'ERR_PLUGIN_NEEDS_TERMINAL' as const
}

export class PluginNotStartedError extends PluginError<'ERR_PLUGIN_NOT_STARTED'> {
  readonly code = 'ERR_PLUGIN_NOT_STARTED' as const
}

export class PluginDeniedError extends PluginError<'ERR_PLUGIN_DENIED'> {
  readonly code = 'ERR_PLUGIN_DENIED' as const
}

/** A policy nobody can rely on: no plugin runs under it. */
export class PolicyInvalidError extends PluginFamilyError<'ERR_POLICY_INVALID'> {
  readonly code = 'ERR_POLICY_INVALID' as const
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
