import { EXTERNAL_SIGNER } from '../../kubeconfig/external-signer-config.ts'
import type { ReadableKubeConfig, UserLike } from './readable-kube-config.ts'

/**
 * Whether a user authenticates in a way that we do not know: then client-node does it, as before.
 *
 * client-node asks its own providers first and those that were added with `addAuthenticator` last; so do we.
 */
export function isForeign(kc: ReadableKubeConfig, user: UserLike): boolean {
  const { name, config } = readProvider(user)
  if (name === 'azure' || name === 'gcp') return true
  const isOurs =
    Boolean(user.exec || config['tokenFile'] || config['exec']) ||
    name === 'oidc' ||
    name === EXTERNAL_SIGNER
  return !isOurs && customAuthenticators(kc).some((one) => one.isAuthProvider?.(user) === true)
}

/** The stanza `auth-provider`, of which client-node checks nothing. */
export function readProvider({ authProvider }: UserLike): {
  readonly name: string | undefined
  readonly config: Readonly<Record<string, unknown>>
} {
  const { name, config } = asRecord(authProvider)
  return { name: typeof name === 'string' ? name : undefined, config: asRecord(config) }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

interface AuthenticatorLike {
  isAuthProvider?(user: UserLike): unknown
}

/** Private in client-node's types, and the only place that knows them. */
function customAuthenticators(kc: ReadableKubeConfig): readonly AuthenticatorLike[] {
  const { custom_authenticators: custom } = kc as { custom_authenticators?: unknown }
  return Array.isArray(custom) ? (custom as AuthenticatorLike[]) : []
}
