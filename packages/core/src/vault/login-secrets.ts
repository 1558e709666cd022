import type { Acquired } from '../protocol/credential.ts'
import { Secret } from '../secret/secret.ts'
import type { Login } from './connection-info.ts'

/** A word such as `Bearer` is not worth hiding; a scheme that is longer may be a whole header. */
const LONGEST_WORD = 10

/** Everything in a login that must not show in what is said about it. */
export function loginSecrets({ connection, scheme }: Login): readonly Secret[] {
  const { user, cluster } = connection
  const { token, basic, certificate } = user
  const key = certificate?.key
  return [
    token,
    basic?.password,
    key?.from === 'data' ? key.data : undefined,
    cluster.proxyUrl,
    ...passwordsIn(cluster.proxyUrl),
    scheme !== undefined && scheme.length > LONGEST_WORD ? new Secret(scheme) : undefined,
  ].filter((secret) => secret !== undefined)
}

/** The same for what was read from files or had from a plugin. */
export function acquiredSecrets({ credential }: Pick<Acquired, 'credential'>): readonly Secret[] {
  const { token, basic, certificate } = credential
  return [token, basic?.password, certificate?.key].filter((secret) => secret !== undefined)
}

/** The password of an address by itself, as it stands there and as it is meant. */
function passwordsIn(address: Secret | undefined): readonly Secret[] {
  const password = /:\/\/[^/@]*?:([^/]*)@/.exec(address?.expose() ?? '')?.[1]
  if (password === undefined) return []
  return [new Secret(password), new Secret(decode(password))]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
