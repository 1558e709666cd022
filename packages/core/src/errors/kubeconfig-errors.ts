import { CredentialError, type ErrorInit } from './credential-error.ts'

export class KubeconfigNotFoundError extends CredentialError<'ERR_KUBECONFIG_NOT_FOUND'> {
  readonly code = 'ERR_KUBECONFIG_NOT_FOUND' as const
  readonly path: string

  constructor(path: string, init: ErrorInit = {}) {
    super(`kubeconfig file ${JSON.stringify(path)} does not exist`, init)
    this.path = path
  }
}

export class KubeconfigUnreadableError extends CredentialError<'ERR_KUBECONFIG_UNREADABLE'> {
  readonly code = 'ERR_KUBECONFIG_UNREADABLE' as const
  readonly path: string

  constructor(path: string, reason: string, init: ErrorInit = {}) {
    super(`kubeconfig file ${JSON.stringify(path)} cannot be read: ${reason}`, init)
    this.path = path
  }
}

export class KubeconfigSyntaxError extends CredentialError<'ERR_KUBECONFIG_SYNTAX'> {
  readonly code = 'ERR_KUBECONFIG_SYNTAX' as const
  /** The file, or `<given>` for configuration that did not come from one. */
  readonly path: string

  constructor(path: string, reason: string, init: ErrorInit = {}) {
    super(`kubeconfig ${JSON.stringify(path)}: ${reason}`, init)
    this.path = path
  }
}

/** A selected entry that cannot work; `problems` lists all that is wrong with it, not only the first. */
export class KubeconfigInvalidError extends CredentialError<'ERR_KUBECONFIG_INVALID'> {
  readonly code = 'ERR_KUBECONFIG_INVALID' as const
  readonly problems: readonly string[]

  constructor(
    problems: readonly string[],
    {
      fault = 'kubeconfig',
      ...init
    }: ErrorInit & {
      /** What must be corrected; the problems name the options themselves. */
      readonly fault?: 'kubeconfig' | 'options'
    } = {},
  ) {
    super(`${fault === 'kubeconfig' ? 'invalid kubeconfig: ' : ''}${problems.join('; ')}`, init)
    this.problems = problems
  }
}

export class KubeconfigEmptyError extends CredentialError<'ERR_KUBECONFIG_EMPTY'> {
  readonly code = 'ERR_KUBECONFIG_EMPTY' as const

  constructor(looked: string, init: ErrorInit = {}) {
    super(`no cluster is configured (${looked})`, init)
  }
}

export class ContextNotFoundError extends CredentialError<'ERR_CONTEXT_NOT_FOUND'> {
  readonly code = 'ERR_CONTEXT_NOT_FOUND' as const

  constructor(
    name: string,
    known: readonly string[],
    {
      namedBy,
      ...init
    }: ErrorInit & {
      /** Where the name comes from. */
      readonly namedBy?: string
    } = {},
  ) {
    const named = namedBy === undefined ? '' : `, named by ${namedBy},`
    super(`context ${JSON.stringify(name)}${named} does not exist`, {
      hint: oneOf('context', known),
      ...init,
    })
  }
}

export class ClusterNotFoundError extends CredentialError<'ERR_CLUSTER_NOT_FOUND'> {
  readonly code = 'ERR_CLUSTER_NOT_FOUND' as const

  constructor(message: string, known: readonly string[], init: ErrorInit = {}) {
    super(message, { hint: oneOf('cluster', known), ...init })
  }
}

export class UserNotFoundError extends CredentialError<'ERR_USER_NOT_FOUND'> {
  readonly code = 'ERR_USER_NOT_FOUND' as const

  constructor(message: string, known: readonly string[], init: ErrorInit = {}) {
    super(message, { hint: oneOf('user', known), ...init })
  }
}

export class AuthProviderRemovedError extends CredentialError<'ERR_AUTH_PROVIDER_REMOVED'> {
  readonly code = 'ERR_AUTH_PROVIDER_REMOVED' as const
}

export class NotSupportedError extends CredentialError<'ERR_NOT_SUPPORTED'> {
  readonly code = 'ERR_NOT_SUPPORTED' as const
}

export class FileUnreadableError extends CredentialError<'ERR_FILE_UNREADABLE'> {
  readonly code = 'ERR_FILE_UNREADABLE' as const
  readonly path: string

  /** @param what For example `token file` or `certificate-authority`. */
  constructor(what: string, path: string, reason: string, init: ErrorInit = {}) {
    super(`${what} ${JSON.stringify(path)} cannot be used: ${reason}`, init)
    this.path = path
  }
}

export class CertificateInvalidError extends CredentialError<'ERR_CERTIFICATE_INVALID'> {
  readonly code = 'ERR_CERTIFICATE_INVALID' as const
}

const SHOWN_NAMES = 8

function oneOf(what: string, known: readonly string[]): string {
  if (known.length === 0) return `Add a ${what} to the kubeconfig: it has none.`
  const shown = known.slice(0, SHOWN_NAMES).map((name) => JSON.stringify(name))
  const more = known.length > SHOWN_NAMES ? ` and ${known.length - SHOWN_NAMES} more` : ''
  return `Use one of these ${what}s: ${shown.join(', ')}${more}.`
}
