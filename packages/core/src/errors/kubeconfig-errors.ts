import { type CodeFacts, CredentialError, type ErrorInit, facts } from './credential-error.ts'

/** Codes 10 to 29: the kubeconfig and the files it names. */
export const KUBECONFIG_CODES = {
  ERR_KUBECONFIG_NOT_FOUND: facts(
    10,
    'kubeconfig',
    'final',
    'A kubeconfig file that was given explicitly does not exist.',
    'Correct option kubeconfig, or omit it to use KUBECONFIG or ~/.kube/config.',
  ),
  ERR_KUBECONFIG_UNREADABLE: facts(
    11,
    'kubeconfig',
    'final',
    'A kubeconfig file exists but cannot be read.',
    'Check that it is a regular file and that your user can read it.',
  ),
  ERR_KUBECONFIG_SYNTAX: facts(
    12,
    'kubeconfig',
    'final',
    'A kubeconfig file is not valid YAML, or one of its fields has the wrong type.',
    'Correct the line or field named in the message.',
  ),
  ERR_KUBECONFIG_INVALID: facts(
    13,
    'kubeconfig',
    'final',
    'The selected cluster or user entry is incomplete or contradictory.',
    'Correct the entry named in the message.',
  ),
  ERR_KUBECONFIG_EMPTY: facts(
    14,
    'kubeconfig',
    'final',
    'No configuration was found: neither a kubeconfig with a cluster nor a service account.',
    'Set KUBECONFIG, or pass option kubeconfig or option server.',
  ),
  ERR_CONTEXT_NOT_FOUND: facts(
    15,
    'kubeconfig',
    'final',
    'The selected context is not in any of the kubeconfig files.',
    'Use one of the contexts in the kubeconfig.',
  ),
  ERR_CLUSTER_NOT_FOUND: facts(
    16,
    'kubeconfig',
    'final',
    'The cluster named by an option or by the context is not in any of the kubeconfig files.',
    'Correct the name in the context or in the option.',
  ),
  ERR_USER_NOT_FOUND: facts(
    17,
    'kubeconfig',
    'final',
    'The user named by an option or by the context is not in any of the kubeconfig files.',
    'Correct the name in the context or in the option.',
  ),
  ERR_AUTH_PROVIDER_REMOVED: facts(
    18,
    'kubeconfig',
    'final',
    'The user entry uses an auth-provider that Kubernetes has removed.',
    'Replace it with the exec stanza shown in the hint.',
  ),
  ERR_NOT_SUPPORTED: facts(
    19,
    'kubeconfig',
    'final',
    'The configuration asks for something that is not supported, and ignoring it would be unsafe.',
    'See docs/compatibility.md for what is supported.',
  ),
  ERR_FILE_UNREADABLE: facts(
    20,
    'kubeconfig',
    'retryable',
    'A token, certificate, key or CA file named in the kubeconfig is unreadable or empty.',
    'Check the path and its permissions.',
  ),
  ERR_CERTIFICATE_INVALID: facts(
    21,
    'kubeconfig',
    'final',
    'A client certificate, client key or CA certificate is invalid.',
    'Replace the certificate and key with a matching, valid pair in PEM format.',
  ),
  ERR_OIDC_CONFIG: facts(
    22,
    'kubeconfig',
    'final',
    'The auth-provider oidc of the user entry is invalid.',
    'Correct the setting named in the message.',
  ),
} as const

abstract class KubeconfigFamilyError<
  C extends keyof typeof KUBECONFIG_CODES,
> extends CredentialError<C> {
  protected override codeFacts(): CodeFacts {
    return KUBECONFIG_CODES[this.code]
  }
}

/** A kubeconfig file that was given explicitly does not exist. */
export class KubeconfigNotFoundError extends KubeconfigFamilyError<'ERR_KUBECONFIG_NOT_FOUND'> {
  static readonly code = 'ERR_KUBECONFIG_NOT_FOUND'
  readonly path: string

  constructor(path: string, init: ErrorInit = {}) {
    super(`kubeconfig file ${JSON.stringify(path)} does not exist`, init)
    this.path = path
  }
}

/** A kubeconfig file exists but cannot be read. */
export class KubeconfigUnreadableError extends KubeconfigFamilyError<'ERR_KUBECONFIG_UNREADABLE'> {
  static readonly code = 'ERR_KUBECONFIG_UNREADABLE'
  readonly path: string

  constructor(path: string, reason: string, init: ErrorInit = {}) {
    super(`kubeconfig file ${JSON.stringify(path)} cannot be read: ${reason}`, init)
    this.path = path
  }
}

/** A kubeconfig file is not valid YAML, or one of its fields has the wrong type. */
export class KubeconfigSyntaxError extends KubeconfigFamilyError<'ERR_KUBECONFIG_SYNTAX'> {
  static readonly code = 'ERR_KUBECONFIG_SYNTAX'
  /** The file, or `<given>` for configuration that did not come from a file. */
  readonly path: string

  constructor(path: string, reason: string, init: ErrorInit = {}) {
    const which = path === '<given>' ? 'the given kubeconfig' : `kubeconfig ${JSON.stringify(path)}`
    super(`${which}: ${reason}`, init)
    this.path = path
  }
}

/** The selected entries are invalid; `problems` lists everything that is wrong, not only the first problem. */
export class KubeconfigInvalidError extends KubeconfigFamilyError<'ERR_KUBECONFIG_INVALID'> {
  static readonly code = 'ERR_KUBECONFIG_INVALID'
  readonly problems: readonly string[]

  constructor(
    problems: readonly string[],
    {
      fault = 'kubeconfig',
      ...init
    }: ErrorInit & {
      /** Where the problems are; those of options already name the option. */
      readonly fault?: 'kubeconfig' | 'options'
    } = {},
  ) {
    super(`${fault === 'kubeconfig' ? 'invalid kubeconfig: ' : ''}${problems.join('; ')}`, init)
    this.problems = problems
  }
}

/** No cluster is configured. */
export class KubeconfigEmptyError extends KubeconfigFamilyError<'ERR_KUBECONFIG_EMPTY'> {
  static readonly code = 'ERR_KUBECONFIG_EMPTY'

  constructor(looked: string, init: ErrorInit = {}) {
    super(`no cluster is configured (${looked})`, init)
  }
}

/** The selected context does not exist. */
export class ContextNotFoundError extends KubeconfigFamilyError<'ERR_CONTEXT_NOT_FOUND'> {
  static readonly code = 'ERR_CONTEXT_NOT_FOUND'

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

/** The selected cluster does not exist. */
export class ClusterNotFoundError extends KubeconfigFamilyError<'ERR_CLUSTER_NOT_FOUND'> {
  static readonly code = 'ERR_CLUSTER_NOT_FOUND'

  constructor(message: string, known: readonly string[], init: ErrorInit = {}) {
    super(message, { hint: oneOf('cluster', known), ...init })
  }
}

/** The selected user does not exist. */
export class UserNotFoundError extends KubeconfigFamilyError<'ERR_USER_NOT_FOUND'> {
  static readonly code = 'ERR_USER_NOT_FOUND'

  constructor(message: string, known: readonly string[], init: ErrorInit = {}) {
    super(message, { hint: oneOf('user', known), ...init })
  }
}

/** The user entry uses an auth-provider that Kubernetes has removed. */
export class AuthProviderRemovedError extends KubeconfigFamilyError<'ERR_AUTH_PROVIDER_REMOVED'> {
  static readonly code = 'ERR_AUTH_PROVIDER_REMOVED'
}

/** Something that is not supported, and that would be unsafe to ignore. */
export class NotSupportedError extends KubeconfigFamilyError<'ERR_NOT_SUPPORTED'> {
  static readonly code = 'ERR_NOT_SUPPORTED'
}

/** A token, certificate, key or CA file is unreadable or empty. */
export class FileUnreadableError extends KubeconfigFamilyError<'ERR_FILE_UNREADABLE'> {
  static readonly code = 'ERR_FILE_UNREADABLE'
  readonly path: string

  /** @param what For example `token file` or `certificate-authority`. */
  constructor(what: string, path: string, reason: string, init: ErrorInit = {}) {
    super(`${what} ${JSON.stringify(path)} cannot be used: ${reason}`, init)
    this.path = path
  }
}

/** A client certificate, client key or CA certificate is invalid. */
export class CertificateInvalidError extends KubeconfigFamilyError<'ERR_CERTIFICATE_INVALID'> {
  static readonly code = 'ERR_CERTIFICATE_INVALID'
}

const MAX_SHOWN_NAMES = 8

function oneOf(what: string, known: readonly string[]): string {
  if (known.length === 0) return `Add this ${what} to the kubeconfig, or correct the name.`
  const shown = known.slice(0, MAX_SHOWN_NAMES).map((name) => JSON.stringify(name))
  const more = known.length > MAX_SHOWN_NAMES ? ` and ${known.length - MAX_SHOWN_NAMES} more` : ''
  return `Use one of these ${what}s: ${shown.join(', ')}${more}.`
}

/** The auth-provider `oidc` of a user entry is invalid. */
export class OidcConfigError extends KubeconfigFamilyError<'ERR_OIDC_CONFIG'> {
  static readonly code = 'ERR_OIDC_CONFIG'
}
