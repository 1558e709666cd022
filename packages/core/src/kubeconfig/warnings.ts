import { hasScheme } from '../formats/server-url.ts'
import { EXTERNAL_SIGNER } from './external-signer-config.ts'
import {
  type ClusterEntry,
  hasAnyMethod,
  hasCertificate,
  hasHeaderMethod,
  hasKey,
  hasStaticMethod,
  type UserEntry,
} from './kubeconfig.ts'
import type { Overrides } from './overrides.ts'
import { describeEntry } from './problem.ts'

/** The entries and options that the warnings are about. */
export interface ConnectionParts {
  /** The user entry without options. */
  readonly entry: UserEntry
  /** The user with options applied. */
  readonly user: UserEntry
  readonly cluster: ClusterEntry
  /** The normalized address of the server. */
  readonly server: string
  readonly overrides: Overrides
}

/** Returns warnings about a valid connection as sentences, mainly about settings that are not used. */
export function connectionWarnings(parts: ConnectionParts): readonly string[] {
  return [...serverWarnings(parts), ...methodWarnings(parts), ...certificateWarnings(parts)]
}

function serverWarnings({ user, cluster, server, overrides }: ConnectionParts): string[] {
  const warnings: string[] = []
  const scheme = server.startsWith('https:') ? 'https' : 'http'
  const target = overrides.server
    ? 'Option server'
    : `The server of ${describeEntry('cluster', cluster)}`
  if (!hasScheme(cluster.server ?? '')) {
    warnings.push(`${target} has no scheme; ${scheme}:// is used. Write the scheme in the address.`)
  }
  if (scheme === 'http' && hasAnyMethod(user)) {
    warnings.push(
      `${target} uses http, so the credentials of ${describeEntry('user', user)} are not sent. ` +
        'Change the address to https:// to authenticate.',
    )
  }
  return warnings
}

function methodWarnings({ entry, user, overrides }: ConnectionParts): string[] {
  const warnings: string[] = []
  const entryName = describeEntry('user', user)
  // Options that replace the plugin do so on purpose.
  if (user.exec !== undefined && hasStaticMethod(entry)) {
    warnings.push(
      `The exec plugin of ${entryName} is not used, because the entry also has a token, a user name or a client certificate.`,
    )
  }
  if (user.authProvider !== undefined && hasHeaderMethod(user)) {
    warnings.push(
      `The auth-provider of ${entryName} is not used, because the entry also has a token or a user name.`,
    )
  } else if (user.authProvider?.name === EXTERNAL_SIGNER && hasStaticMethod(user)) {
    warnings.push(
      `The external signer of ${entryName} is not used, because the entry also has a client certificate and key.`,
    )
  }
  if (user.password !== undefined && user.username === undefined) {
    const what = overrides.password ? 'Option password' : `The password of ${entryName}`
    warnings.push(`${what} is not used, because there is no user name.`)
  }
  return warnings
}

function certificateWarnings({ entry, user, overrides }: ConnectionParts): string[] {
  const entryName = describeEntry('user', user)
  if (hasKey(user) && !hasCertificate(user)) {
    const what = overrides.clientKey ? 'Option clientKey' : `The client key of ${entryName}`
    return [`${what} is not used, because there is no client certificate.`]
  }
  if (overrides.token && hasCertificate(entry) && !overrides.clientCertificate) {
    return [
      `The client certificate of ${entryName} is sent in addition to option token; ` +
        'the server may prefer the certificate.',
    ]
  }
  return []
}
