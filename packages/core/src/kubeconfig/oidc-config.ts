import { OidcConfigError } from '../errors/oidc-errors.ts'
import { material } from './cluster-target.ts'
import type { Material, OidcConfig } from './connection.ts'
import { decodeBase64 } from './decode-base64.ts'
import type { UserEntry } from './kubeconfig.ts'
import { describeEntry } from './quote-name.ts'
import { withoutUndefined } from './without-undefined.ts'

/**
 * Reads the auth-provider `oidc` of a user entry; undefined when the entry has none.
 *
 * @throws {OidcConfigError} Names file, user and key of everything that is wrong, never a value.
 */
export function oidcConfig(user: UserEntry): OidcConfig | undefined {
  if (user.authProvider?.name !== 'oidc') return undefined
  const { config } = user.authProvider
  const secret = (key: string) => (config.get(key)?.expose() ? config.get(key) : undefined)
  const text = (key: string) => secret(key)?.expose()
  const problems: Problem[] = []
  const issuer = text('idp-issuer-url')
  const clientId = text('client-id')
  const problem = issuerProblem(issuer)
  if (problem !== undefined) problems.push(problem)
  if (clientId === undefined) problems.push(MISSING_CLIENT)
  const authority = authorityOf(text)
  if ('wrong' in authority) problems.push(authority)
  throwProblems(user, problems)
  return withoutUndefined<OidcConfig>({
    issuer,
    clientId,
    clientSecret: secret('client-secret'),
    certificateAuthority: 'wrong' in authority ? undefined : authority.material,
    idToken: secret('id-token'),
    refreshToken: secret('refresh-token'),
    entry: { file: user.file, user: user.name },
  })
}

interface Problem {
  /** Continues the name of the key. */
  readonly wrong: string
  readonly remedy: string
}

const MISSING_CLIENT: Problem = {
  wrong: 'client-id is missing',
  remedy: 'Set client-id to the name under which the issuer knows you.',
}

const ISSUER_REMEDY = 'Set idp-issuer-url to the https:// address of the issuer.'

function issuerProblem(issuer: string | undefined): Problem | undefined {
  if (issuer === undefined) return { wrong: 'idp-issuer-url is missing', remedy: ISSUER_REMEDY }
  if (!URL.canParse(issuer)) {
    return { wrong: 'idp-issuer-url is not an address', remedy: ISSUER_REMEDY }
  }
  const url = new URL(issuer)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return {
      wrong: 'idp-issuer-url has a user name, a password, a query or a fragment in it',
      remedy: 'Write the address of the issuer alone; a password would show in messages.',
    }
  }
  if (isSafeAddress(url)) return undefined
  return {
    wrong: 'idp-issuer-url is not https, so that tokens would be sent in the clear',
    remedy: ISSUER_REMEDY,
  }
}

/** Whether tokens may be sent there: over TLS, or to this machine itself. */
export function isSafeAddress({ protocol, hostname }: URL): boolean {
  if (protocol === 'https:') return true
  const isLoopback = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/.test(hostname)
  return protocol === 'http:' && isLoopback
}

function authorityOf(
  text: (key: string) => string | undefined,
): Problem | { readonly material: Material | undefined } {
  const path = text('idp-certificate-authority')
  const encoded = text('idp-certificate-authority-data')
  // As in client-go, data wins over a file: login tools write both.
  if (encoded === undefined) return { material: material<string>(path, undefined) }
  const data = decodeBase64(encoded)
  if (data !== undefined) return { material: { from: 'data', data } }
  return {
    wrong: 'idp-certificate-authority-data is not valid base64',
    remedy: 'Encode the PEM file again (base64 -w0 FILE), or name it in idp-certificate-authority.',
  }
}

function throwProblems(user: UserEntry, problems: readonly Problem[]): void {
  if (problems.length === 0) return
  const wrong = problems.map((problem) => problem.wrong).join('; ')
  throw new OidcConfigError(`${describeEntry('user', user)} has an auth-provider oidc: ${wrong}`, {
    hint: [...new Set(problems.map(({ remedy }) => remedy))].join(' '),
  })
}
