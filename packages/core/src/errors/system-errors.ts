import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes 95 to 99: what this machine lacks. */
export const SYSTEM_CODES = {
  ERR_SYSTEM_EXHAUSTED: facts(
    95,
    'system',
    'retryable',
    'The machine or the process has run out of file descriptors, disk space or memory.',
    'Raise the limit (ulimit -n), or free disk space or memory, and try again.',
  ),
  ERR_NO_PRIVATE_FOLDER: facts(
    96,
    'system',
    'final',
    'There is no folder for a secret: other users have access to the folders for temporary files of this user.',
    'Set XDG_RUNTIME_DIR to a folder that only you can access.',
  ),
  ERR_LOGIN_SHELL: facts(
    97,
    'system',
    'retryable',
    "The environment of the user's login shell could not be read.",
    'Correct the start-up files of the shell, or set policy.pluginFolders instead.',
  ),
} as const

abstract class SystemFamilyError<C extends keyof typeof SYSTEM_CODES> extends CredentialError<C> {
  protected override codeFacts(): CodeFacts {
    return SYSTEM_CODES[this.code]
  }
}

/** A resource of the machine is exhausted. `errno` is the code of the system, such as `EMFILE`. */
export class SystemExhaustedError extends SystemFamilyError<'ERR_SYSTEM_EXHAUSTED'> {
  static readonly code = 'ERR_SYSTEM_EXHAUSTED'
  readonly errno: string

  constructor(errno: string, what: string, init: ErrorInit = {}) {
    super(`${what} (${errno})`, init)
    this.errno = errno
  }
}

/** There is no folder that only this user can access. The message names each candidate and the reason. */
export class NoPrivateFolderError extends SystemFamilyError<'ERR_NO_PRIVATE_FOLDER'> {
  static readonly code = 'ERR_NO_PRIVATE_FOLDER'
}

/** The user's login shell did not report its environment. */
export class LoginShellError extends SystemFamilyError<'ERR_LOGIN_SHELL'> {
  static readonly code = 'ERR_LOGIN_SHELL'
  /** The program; empty if it is not known. */
  readonly shell: string

  constructor(shell: string, what: string, init: ErrorInit = {}) {
    super(`the login shell${shell === '' ? '' : ` ${JSON.stringify(shell)}`} ${what}`, init)
    this.shell = shell
  }
}

const FILES_HINT =
  'Raise the limit with ulimit -n, or close files and connections that are not needed.'
const SPACE_HINT =
  'Free disk space, or set XDG_RUNTIME_DIR or TMPDIR to a directory on another disk.'

const EXHAUSTED: Readonly<Record<string, { readonly what: string; readonly hint: string }>> = {
  EMFILE: { what: 'too many open files and connections in this process', hint: FILES_HINT },
  ENFILE: { what: 'too many open files in the system', hint: FILES_HINT },
  ENOSPC: { what: 'no space left on device', hint: SPACE_HINT },
  EDQUOT: { what: 'disk quota exceeded', hint: SPACE_HINT },
  ENOMEM: { what: 'out of memory', hint: 'Free memory and try again.' },
}

/** Returns an error of the system as a `SystemExhaustedError` if a resource is exhausted; undefined otherwise. */
export function exhaustedError(error: unknown): SystemExhaustedError | undefined {
  const { code = '', path } = Object(error) as { code?: string; path?: unknown }
  if (!Object.hasOwn(EXHAUSTED, code)) return undefined
  const { what, hint } = EXHAUSTED[code] ?? { what: '', hint: '' }
  const where = typeof path === 'string' ? `: ${JSON.stringify(path)}` : ''
  return new SystemExhaustedError(code, `${what}${where}`, { hint, cause: error })
}
