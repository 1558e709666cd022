import { type Credential, isHeaderSafe } from '../credential/credential.ts'
import { KubeconfigInvalidError } from '../errors/index.ts'
import type { UserIdentity } from '../kubeconfig/connection.ts'
import type { Clock } from '../ports/clock.ts'
import type { Crypto } from '../ports/crypto.ts'
import type { Files } from '../ports/files.ts'
import { Secret } from '../secret/secret.ts'
import {
  certificateFilesSource,
  type PemPart,
  signedChainSource,
  tokenFileSource,
} from './file-source.ts'
import type { Source } from './source.ts'
import { staticPairSource, staticSource } from './static-source.ts'

interface StaticPorts {
  readonly crypto: Crypto
  readonly files: Files
  readonly clock: Clock
}

/**
 * Returns the source for the fields of a user entry other than `exec`, whose source is shared between connections.
 *
 * @param login The source of the entry's `oidc`, if it has one. It can be combined with a certificate.
 * @throws {KubeconfigInvalidError} `ERR_KUBECONFIG_INVALID` for a token that cannot be sent in an HTTP header.
 */
export function chooseSource(user: UserIdentity, ports: StaticPorts, login?: Source): Source {
  const sources: Source[] = login === undefined ? [] : [login]
  if (user.certificate !== undefined) sources.push(certificateSource(user, user.certificate, ports))
  if (user.signing !== undefined) sources.push(signingSource(user.signing, ports))
  if (user.tokenFile !== undefined) sources.push(tokenFileSource(user.tokenFile, ports, user.token))
  else sources.push(...inlineSources(user))
  const [first, ...rest] = sources
  return first === undefined ? staticSource({}) : combinedSource([first, ...rest])
}

function inlineSources({ name, token, basic }: UserIdentity): Source[] {
  if (token !== undefined && !isHeaderSafe(token.expose())) {
    const whose = name === undefined ? 'the token' : `the token of user ${JSON.stringify(name)}`
    throw new KubeconfigInvalidError(
      [`${whose} contains a character that is not allowed in an HTTP header`],
      {
        hint: 'Remove line breaks, and white space at both ends.',
      },
    )
  }
  const credential: Credential = { ...(token && { token }), ...(basic && { basic }) }
  return Object.keys(credential).length === 0 ? [] : [staticSource(credential)]
}

function signingSource(
  { chain, signingKey, id }: NonNullable<UserIdentity['signing']>,
  ports: StaticPorts,
): Source {
  const part: PemPart = chain.from === 'file' ? chain : { pem: new Secret(chain.data) }
  return signedChainSource({ chain: part, signingKey, signingKeyId: id }, ports)
}

function certificateSource(
  { name }: UserIdentity,
  { chain, key }: NonNullable<UserIdentity['certificate']>,
  ports: StaticPorts,
): Source {
  if (chain.from === 'data' && key.from === 'data') {
    const fields = [chain.field, key.field].filter((field) => field !== undefined).join(' and ')
    const where =
      name === undefined ? fields || 'client certificate' : `user ${JSON.stringify(name)}`
    return staticPairSource({ chain: chain.data, key: key.data, where }, ports)
  }
  const chainPart: PemPart = chain.from === 'file' ? chain : { pem: new Secret(chain.data) }
  const keyPart: PemPart = key.from === 'file' ? key : { pem: key.data }
  return certificateFilesSource({ chain: chainPart, key: keyPart }, ports)
}

/** Combines sources whose credentials are used together, such as a token file and a client certificate. */
function combinedSource(sources: readonly [Source, ...Source[]]): Source {
  const [first] = sources
  if (sources.length === 1) return first
  return {
    label: { kind: first.label.kind, name: sources.map(({ label }) => label.name).join(' and ') },
    watch(onChange) {
      const stops = sources.map((source) => source.watch?.(onChange))
      return () => {
        for (const stop of stops) stop?.()
      }
    },
    async acquire(ask) {
      const parts = await Promise.all(sources.map((source) => source.acquire(ask)))
      return {
        credential: Object.assign({}, ...parts.map((part) => part.credential)),
        expiresAt: Math.min(...parts.map((part) => part.expiresAt)),
      }
    },
  }
}
