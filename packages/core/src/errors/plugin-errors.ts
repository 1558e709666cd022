import { CredentialError, type ErrorInit } from './credential-error.ts'

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
abstract class PluginError<C extends PluginCode> extends CredentialError<C> {
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

export class PluginFormatError extends PluginError<'ERR_PLUGIN_FORMAT'> {
  readonly code = 'ERR_PLUGIN_FORMAT' as const
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

export class PluginTooLoudError extends PluginError<'ERR_PLUGIN_TOO_LOUD'> {
  readonly code = 'ERR_PLUGIN_TOO_LOUD' as const
}

export class PluginSilentError extends PluginError<'ERR_PLUGIN_SILENT'> {
  readonly code = 'ERR_PLUGIN_SILENT' as const
}

export class PluginSyntaxError extends PluginError<'ERR_PLUGIN_SYNTAX'> {
  readonly code = 'ERR_PLUGIN_SYNTAX' as const
}

export class PluginVersionError extends PluginError<'ERR_PLUGIN_VERSION'> {
  readonly code = 'ERR_PLUGIN_VERSION' as const
}

/** An answer of the wrong shape; `path` names the first field that is wrong. */
export class PluginAnswerError extends PluginError<'ERR_PLUGIN_ANSWER'> {
  readonly code = 'ERR_PLUGIN_ANSWER' as const
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
export class PolicyInvalidError extends CredentialError<'ERR_POLICY_INVALID'> {
  readonly code = 'ERR_POLICY_INVALID' as const
}

type PluginCode =
  | 'ERR_PLUGIN_NOT_FOUND'
  | 'ERR_PLUGIN_NOT_EXECUTABLE'
  | 'ERR_PLUGIN_FORMAT'
  | 'ERR_PLUGIN_EXITED'
  | 'ERR_PLUGIN_KILLED'
  | 'ERR_PLUGIN_TIMED_OUT'
  | 'ERR_PLUGIN_TOO_LOUD'
  | 'ERR_PLUGIN_SILENT'
  | 'ERR_PLUGIN_SYNTAX'
  | 'ERR_PLUGIN_VERSION'
  | 'ERR_PLUGIN_ANSWER'
  | 'ERR_PLUGIN_CERTIFICATE'
  | 'ERR_PLUGIN_INPUT_TOO_LARGE'
  | 'ERR_PLUGIN_ENVIRONMENT'
  | 'ERR_PLUGIN_NEEDS_TERMINAL'
  | 'ERR_PLUGIN_NOT_STARTED'
  | 'ERR_PLUGIN_DENIED'
