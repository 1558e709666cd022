import { AuthProviderRemovedError, NotSupportedError } from '../errors/kubeconfig-errors.ts'
import { scrub } from '../secret/scrub.ts'
import { EXTERNAL_SIGNER } from './external-signer-config.ts'
import type { AuthProviderEntry, UserEntry } from './kubeconfig.ts'
import { describeEntry, quoteName } from './quote-name.ts'

/**
 * Makes the error for a user who relies on an `auth-provider`: it shows the exec stanza to paste instead.
 *
 * Of the provider's settings only the public ones are carried over; tokens and secrets never are.
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
      const meant = closest(provider.name)
      return new NotSupportedError(`${uses}, which does not exist`, {
        hint:
          meant === undefined
            ? pasteInstead(user, genericStanza())
            : `Write name: ${meant}, exactly so: upper and lower case count.`,
      })
    }
  }
}

/** The provider that exists and is written nearly the same: in other case, or with a dash. */
function closest(name: string): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '')
  return ['oidc', EXTERNAL_SIGNER].find((known) => plain(known) === plain(name))
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
      ...(server.length > 0 ? server : ['--server-id', 'APPLICATION-ID-OF-THE-SERVER']),
      ...setting('--client-id', 'client-id'),
      ...setting('--tenant-id', 'tenant-id'),
    ],
    installHint: 'Install kubelogin: https://azure.github.io/kubelogin/install.html',
    provideClusterInfo: false,
  }
}

function genericStanza(): Stanza {
  return {
    command: 'NAME-OF-THE-PLUGIN',
    args: [],
    installHint: 'How to install the plugin',
    provideClusterInfo: true,
  }
}

function pasteInstead(user: UserEntry, stanza: Stanza): string {
  const args = stanza.args.map((arg) => `      - ${quoteValue(arg)}`)
  return [
    'Replace the entry by this one:',
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

/** An issuer may be an address with a password in it, against all advice. */
function quoteValue(value: string): string {
  return quoteName(scrub(value))
}
