import { AuthProviderRemovedError, NotSupportedError, OidcConfigError } from '../errors/index.ts'
import { decodeBase64 } from '../formats/base64.ts'
import { withoutUndefined } from '../formats/plain-object.ts'
import { scrub } from '../secret/scrub.ts'
import { type Material, material, type OidcConfig } from './connection.ts'
import { EXTERNAL_SIGNER } from './external-signer-config.ts'
import type { AuthProviderEntry, UserEntry } from './kubeconfig.ts'
import { describeEntry, quoteName } from './problem.ts'

/**
 * Returns the error for a user entry with an unsupported `auth-provider`. Its hint shows an exec stanza to paste instead.
 *
 * The stanza contains only public settings of the provider, never tokens or secrets.
 */
export function authProviderError(user: UserEntry, provider: AuthProviderEntry) {
  const uses = `${describeEntry('user', user)} uses auth-provider ${quoteName(provider.name)}`
  switch (provider.name) {
    case 'gcp':
      return new AuthProviderRemovedError(
        `${uses}, which Kubernetes removed in 1.26; gke-gcloud-auth-plugin replaces it`,
        { hint: pasteInstead(user, gcpStanza()) },
      )
    case 'azure':
      return new AuthProviderRemovedError(
        `${uses}, which Kubernetes removed in 1.26; kubelogin replaces it`,
        { hint: pasteInstead(user, azureStanza(provider)) },
      )
    default: {
      const closest = closestProvider(provider.name)
      return new NotSupportedError(`${uses}, which is not supported`, {
        hint:
          closest === undefined
            ? pasteInstead(user, genericStanza())
            : `Write name: ${closest}; names are case-sensitive.`,
      })
    }
  }
}

/** Returns the supported provider whose name differs only in case and punctuation. */
function closestProvider(name: string): string | undefined {
  const letters = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '')
  return ['oidc', EXTERNAL_SIGNER].find((known) => letters(known) === letters(name))
}

interface Stanza {
  readonly command: string
  readonly args: readonly string[]
  readonly installHint: string
  readonly provideClusterInfo: boolean
}

function gcpStanza(): Stanza {
  return {
    command: 'gke-gcloud-auth-plugin',
    args: [],
    installHint:
      'Install gke-gcloud-auth-plugin: https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl#install_plugin',
    provideClusterInfo: true,
  }
}

function azureStanza({ config }: AuthProviderEntry): Stanza {
  const setting = (flag: string, key: string): string[] => {
    const value = config.get(key)?.expose()
    return value ? [flag, value] : []
  }
  const server = setting('--server-id', 'apiserver-id')
  return {
    command: 'kubelogin',
    args: [
      'get-token',
      '--login',
      'azurecli',
      ...(server.length > 0 ? server : ['--server-id', 'SERVER-APPLICATION-ID']),
      ...setting('--client-id', 'client-id'),
      ...setting('--tenant-id', 'tenant-id'),
    ],
    installHint: 'Install kubelogin: https://azure.github.io/kubelogin/install.html',
    provideClusterInfo: false,
  }
}

function genericStanza(): Stanza {
  return {
    command: 'PLUGIN-NAME',
    args: [],
    installHint: 'How to install the plugin',
    provideClusterInfo: true,
  }
}

function pasteInstead(user: UserEntry, stanza: Stanza): string {
  const args = stanza.args.map((arg) => `      - ${quoteValue(arg)}`)
  return [
    'Replace the entry with this one:',
    `- name: ${quoteName(user.name)}`,
    '  user:',
    '    exec:',
    '      apiVersion: client.authentication.k8s.io/v1beta1',
    `      command: ${stanza.command}`,
    ...(args.length > 0 ? ['      args:', ...args] : []),
    `      installHint: ${JSON.stringify(stanza.installHint)}`,
    `      provideClusterInfo: ${stanza.provideClusterInfo}`,
    '      interactiveMode: IfAvailable',
  ].join('\n')
}

/** Removes a password in the URL of a server or tenant. */
function quoteValue(value: string): string {
  return quoteName(scrub(value))
}

/**
 * Returns the auth-provider `oidc` of a user entry; undefined if the entry has none.
 *
 * @throws {OidcConfigError} `ERR_OIDC_CONFIG` with file, user and all invalid keys, never with a value.
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
    entry: { file: user.file, user: user.name, ...(user.inline && { inline: user.inline }) },
  })
}

interface Problem {
  /** The key and what is wrong with it. */
  readonly wrong: string
  readonly remedy: string
}

const MISSING_CLIENT: Problem = {
  wrong: 'client-id is missing',
  remedy: 'Set client-id to the ID of the client registered at the issuer.',
}

const ISSUER_REMEDY = 'Set idp-issuer-url to the https:// URL of the issuer.'

function issuerProblem(issuer: string | undefined): Problem | undefined {
  if (issuer === undefined) return { wrong: 'idp-issuer-url is missing', remedy: ISSUER_REMEDY }
  if (!URL.canParse(issuer)) {
    return { wrong: 'idp-issuer-url is not a valid URL', remedy: ISSUER_REMEDY }
  }
  const url = new URL(issuer)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return {
      wrong: 'idp-issuer-url contains a user name, a password, a query or a fragment',
      remedy: 'Remove user name, password, query and fragment from idp-issuer-url.',
    }
  }
  if (isSecureUrl(url)) return undefined
  return {
    wrong: 'idp-issuer-url is not https, and tokens would be sent unencrypted',
    remedy: ISSUER_REMEDY,
  }
}

/** Returns whether tokens may be sent to a URL: it uses https, or is on the loopback interface. */
export function isSecureUrl({ protocol, hostname }: URL): boolean {
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
  throw new OidcConfigError(
    `${describeEntry('user', user)} has an invalid auth-provider oidc: ${wrong}`,
    {
      hint: [...new Set(problems.map(({ remedy }) => remedy))].join(' '),
    },
  )
}
