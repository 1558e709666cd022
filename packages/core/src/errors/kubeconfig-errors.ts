import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes 10 to 29: the kubeconfig and the files it names. */
export const KUBECONFIG_CODES = {
  ERR_KUBECONFIG_NOT_FOUND: facts(
    10,
    'kubeconfig',
    'final',
    'A kubeconfig file that was named explicitly does not exist.',
    'Check the path given with --kubeconfig, or leave it out to use KUBECONFIG or ~/.kube/config.',
  ),
  ERR_KUBECONFIG_UNREADABLE: facts(
    11,
    'kubeconfig',
    'final',
    'A kubeconfig file exists but cannot be read.',
    'Check that it is a regular file and that your user may read it.',
  ),
  ERR_KUBECONFIG_SYNTAX: facts(
    12,
    'kubeconfig',
    'final',
    'A kubeconfig file is not YAML, or not of the shape a kubeconfig has.',
    'Correct the line or field that the message names.',
  ),
  ERR_KUBECONFIG_INVALID: facts(
    13,
    'kubeconfig',
    'final',
    'The selected cluster or user entry is incomplete or contradicts itself.',
    'Correct the entry that the message names.',
  ),
  ERR_KUBECONFIG_EMPTY: facts(
    14,
    'kubeconfig',
    'final',
    'There is no configuration at all: no kubeconfig with a cluster, and no service account.',
    'Set KUBECONFIG, pass --kubeconfig, or pass --server.',
  ),
  ERR_CONTEXT_NOT_FOUND: facts(
    15,
    'kubeconfig',
    'final',
    'The context asked for is in none of the kubeconfig files.',
    'Use one of the contexts that the message lists.',
  ),
  ERR_CLUSTER_NOT_FOUND: facts(
    16,
    'kubeconfig',
    'final',
    'The cluster asked for, or named by the context, is in none of the kubeconfig files.',
    'Correct the name in the context or on the command line.',
  ),
  ERR_USER_NOT_FOUND: facts(
    17,
    'kubeconfig',
    'final',
    'The user asked for, or named by the context, is in none of the kubeconfig files.',
    'Correct the name in the context or on the command line.',
  ),
  ERR_AUTH_PROVIDER_REMOVED: facts(
    18,
    'kubeconfig',
    'final',
    'The user entry uses an auth-provider that Kubernetes has removed.',
    'Replace it by the exec stanza that the message shows.',
  ),
  ERR_NOT_SUPPORTED: facts(
    19,
    'kubeconfig',
    'final',
    'The entry asks for something this version does not do; ignoring it would be unsafe.',
    'See docs/compatibility.md for what is supported.',
  ),
  ERR_FILE_UNREADABLE: facts(
    20,
    'kubeconfig',
    'retryable',
    'A token, certificate, key or CA file named by the kubeconfig cannot be read or is empty.',
    'Check the path and its permissions.',
  ),
  ERR_CERTIFICATE_INVALID: facts(
    21,
    'kubeconfig',
    'final',
    'A client certificate, its key or a CA in the kubeconfig cannot be used.',
    'Replace the certificate and key by a matching, valid pair in PEM.',
  ),
  ERR_OIDC_CONFIG: facts(
    22,
    'kubeconfig',
    'final',
    'The auth-provider oidc of the user entry cannot work as it is written.',
    'Correct the setting that the message names.',
  ),
} as const

abstract class KubeconfigFamilyError<
  C extends keyof typeof KUBECONFIG_CODES,
> extends CredentialError<C> {
  protected override get facts(): CodeFacts {
    return KUBECONFIG_CODES[this.code]
  }
}

export class KubeconfigNotFoundError extends KubeconfigFamilyError<'ERR_KUBECONFIG_NOT_FOUND'> {
  readonly code = 'ERR_KUBECONFIG_NOT_FOUND' as const
  readonly path: string

  constructor(path: string, init: ErrorInit = {}) {
    super(`kubeconfig file ${JSON.stringify(path)} does not exist`, init)
    this.path = path
  }
}

export class KubeconfigUnreadableError extends KubeconfigFamilyError<'ERR_KUBECONFIG_UNREADABLE'> {
  readonly code = 'ERR_KUBECONFIG_UNREADABLE' as const
  readonly path: string

  constructor(path: string, reason: string, init: ErrorInit = {}) {
    super(`kubeconfig file ${JSON.stringify(path)} cannot be read: ${reason}`, init)
    this.path = path
  }
}

export class KubeconfigSyntaxError extends KubeconfigFamilyError<'ERR_KUBECONFIG_SYNTAX'> {
  readonly code = 'ERR_KUBECONFIG_SYNTAX' as const
  /** The file, or `<given>` for configuration that did not come from one. */
  readonly path: string

  constructor(path: string, reason: string, init: ErrorInit = {}) {
    const which = path === '<given>' ? 'the given kubeconfig' : `kubeconfig ${JSON.stringify(path)}`
    super(`${which}: ${reason}`, init)
    this.path = path
  }
}

/** A selected entry that cannot work; `problems` lists all that is wrong with it, not only the first. */
export class KubeconfigInvalidError extends KubeconfigFamilyError<'ERR_KUBECONFIG_INVALID'> {
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

export class KubeconfigEmptyError extends KubeconfigFamilyError<'ERR_KUBECONFIG_EMPTY'> {
  readonly code = 'ERR_KUBECONFIG_EMPTY' as const

  constructor(looked: string, init: ErrorInit = {}) {
    super(`no cluster is configured (${looked})`, init)
  }
}

export class ContextNotFoundError extends KubeconfigFamilyError<'ERR_CONTEXT_NOT_FOUND'> {
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

export class ClusterNotFoundError extends KubeconfigFamilyError<'ERR_CLUSTER_NOT_FOUND'> {
  readonly code = 'ERR_CLUSTER_NOT_FOUND' as const

  constructor(message: string, known: readonly string[], init: ErrorInit = {}) {
    super(message, { hint: oneOf('cluster', known), ...init })
  }
}

export class UserNotFoundError extends KubeconfigFamilyError<'ERR_USER_NOT_FOUND'> {
  readonly code = 'ERR_USER_NOT_FOUND' as const

  constructor(message: string, known: readonly string[], init: ErrorInit = {}) {
    super(message, { hint: oneOf('user', known), ...init })
  }
}

export class AuthProviderRemovedError extends KubeconfigFamilyError<'ERR_AUTH_PROVIDER_REMOVED'> {
  readonly code = 'ERR_AUTH_PROVIDER_REMOVED' as const
}

export class NotSupportedError extends KubeconfigFamilyError<'ERR_NOT_SUPPORTED'> {
  readonly code = 'ERR_NOT_SUPPORTED' as const
}

export class FileUnreadableError extends KubeconfigFamilyError<'ERR_FILE_UNREADABLE'> {
  readonly code = 'ERR_FILE_UNREADABLE' as const
  readonly path: string

  /** @param what For example `token file` or `certificate-authority`. */
  constructor(what: string, path: string, reason: string, init: ErrorInit = {}) {
    super(`${what} ${JSON.stringify(path)} cannot be used: ${reason}`, init)
    this.path = path
  }
}

export class CertificateInvalidError extends KubeconfigFamilyError<'ERR_CERTIFICATE_INVALID'> {
  readonly code = 'ERR_CERTIFICATE_INVALID' as const
}

const SHOWN_NAMES = 8

function oneOf(what: string, known: readonly string[]): string {
  if (known.length === 0) return `Add a ${what} to the kubeconfig: it has none.`
  const shown = known.slice(0, SHOWN_NAMES).map((name) => JSON.stringify(name))
  const more = known.length > SHOWN_NAMES ? ` and ${known.length - SHOWN_NAMES} more` : ''
  return `Use one of these ${what}s: ${shown.join(', ')}${more}.`
}

/** A user entry with an auth-provider `oidc` that cannot work as it is written. */
export class OidcConfigError extends KubeconfigFamilyError<'ERR_OIDC_CONFIG'> {
  readonly code = 'ERR_OIDC_CONFIG' as const
}
