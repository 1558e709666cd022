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

/** What the warnings are about. */
export interface Scene {
  /** The user as the file has it, before flags. */
  readonly entry: UserEntry
  /** The user with flags applied. */
  readonly user: UserEntry
  readonly cluster: ClusterEntry
  /** The address that requests will go to. */
  readonly server: string
  readonly overrides: Overrides
}

/** Says in sentences what is odd about a connection that works, above all what is configured but not used. */
export function describeOddities(scene: Scene): readonly string[] {
  return [...serverOddities(scene), ...methodOddities(scene), ...certificateOddities(scene)]
}

function serverOddities({ user, cluster, server, overrides }: Scene): string[] {
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
        'Change the address to https:// to log in.',
    )
  }
  return warnings
}

function methodOddities({ entry, user, overrides }: Scene): string[] {
  const warnings: string[] = []
  const who = describeEntry('user', user)
  // A plugin that flags put aside was put aside on purpose.
  if (user.exec !== undefined && hasStaticMethod(entry)) {
    warnings.push(
      `The exec plugin of ${who} is not used, because the entry also has a token, a user name or a client certificate.`,
    )
  }
  if (user.authProvider !== undefined && hasHeaderMethod(user)) {
    warnings.push(
      `The auth-provider of ${who} is not used, because the entry also has a token or a user name.`,
    )
  } else if (user.authProvider?.name === EXTERNAL_SIGNER && hasStaticMethod(user)) {
    warnings.push(
      `The external signer of ${who} is not used, because there is also a client certificate with its key.`,
    )
  }
  if (user.password !== undefined && user.username === undefined) {
    const what = overrides.password ? 'Option password' : `The password of ${who}`
    warnings.push(`${what} is not used, because there is no user name.`)
  }
  return warnings
}

function certificateOddities({ entry, user, overrides }: Scene): string[] {
  const who = describeEntry('user', user)
  if (hasKey(user) && !hasCertificate(user)) {
    const what = overrides.clientKey ? 'Option clientKey' : `The client key of ${who}`
    return [`${what} is not used, because there is no client certificate.`]
  }
  if (overrides.token && hasCertificate(entry) && !overrides.clientCertificate) {
    return [
      `The client certificate of ${who} is sent beside the token given by a flag; ` +
        'the server may go by the certificate.',
    ]
  }
  return []
}
