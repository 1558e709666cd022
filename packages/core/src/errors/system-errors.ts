import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes 95 to 99: what the machine has no more of. */
export const SYSTEM_CODES = {
  ERR_SYSTEM_EXHAUSTED: facts(
    95,
    'system',
    'retryable',
    'This machine, or a limit for this process, has no more open files, disk space or memory.',
    'Raise the limit (ulimit -n), free some space or memory, and try again.',
  ),
} as const

abstract class SystemFamilyError<C extends keyof typeof SYSTEM_CODES> extends CredentialError<C> {
  protected override get facts(): CodeFacts {
    return SYSTEM_CODES[this.code]
  }
}

/** Something of the machine is used up. `errno` is the system's own name for it, such as `EMFILE`. */
export class SystemExhaustedError extends SystemFamilyError<'ERR_SYSTEM_EXHAUSTED'> {
  readonly code = 'ERR_SYSTEM_EXHAUSTED' as const
  readonly errno: string

  constructor(errno: string, what: string, init: ErrorInit = {}) {
    super(`${what} (${errno})`, init)
    this.errno = errno
  }
}

const FILES = 'Raise the limit with ulimit -n, or close what has many files or connections open.'
const SPACE = 'Free some space, or set XDG_RUNTIME_DIR or TMPDIR to a folder on another disk.'

const EXHAUSTED: Readonly<Record<string, { readonly what: string; readonly hint: string }>> = {
  EMFILE: { what: 'this process has as many files and connections open as it may', hint: FILES },
  ENFILE: { what: 'this machine has as many files open as it can', hint: FILES },
  ENOSPC: { what: 'there is no space left on the disk', hint: SPACE },
  EDQUOT: { what: 'the disk quota of this user is used up', hint: SPACE },
  ENOMEM: { what: 'there is not enough memory', hint: 'Free some memory and try again.' },
}

/** The same error in our words, if it says that something of the machine is used up. */
export function exhaustedError(error: unknown): SystemExhaustedError | undefined {
  const { code = '', path } = Object(error) as { code?: string; path?: unknown }
  if (!Object.hasOwn(EXHAUSTED, code)) return undefined
  const { what, hint } = EXHAUSTED[code] ?? { what: '', hint: '' }
  const where = typeof path === 'string' ? `: ${JSON.stringify(path)}` : ''
  return new SystemExhaustedError(code, `${what}${where}`, { hint, cause: error })
}
