import { join } from 'node:path'
import type { DifferentialCase } from '../command.ts'
import type { Scene } from '../scene.ts'

interface Stanza {
  readonly id: string
  readonly about: string
  readonly command: string
  readonly args: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
  readonly version: 'v1' | 'v1beta1'
  readonly mode?: 'Never' | 'IfAvailable'
  readonly provideClusterInfo?: boolean
  readonly installHint?: string
  readonly extension?: unknown
  readonly answers?: 'certificate'
  /** Whether the output has no expirationTimestamp. */
  readonly endless?: true
}

/** The stanzas that vendors' tools write, with their own arguments. */
const STANZAS: readonly Stanza[] = [
  {
    id: 'wild-aws',
    about: 'aws eks get-token with a profile',
    command: 'aws',
    args: [
      ...['--region', 'eu-central-1', 'eks', 'get-token'],
      ...['--cluster-name', 'dev', '--output', 'json'],
    ],
    env: [{ name: 'AWS_PROFILE', value: 'work' }],
    version: 'v1beta1',
  },
  {
    id: 'wild-aws-iam-authenticator',
    about: 'aws-iam-authenticator with a role',
    command: 'aws-iam-authenticator',
    args: ['token', '-i', 'dev', '-r', 'arn:aws:iam::1:role/r'],
    version: 'v1beta1',
  },
  {
    id: 'wild-gke',
    about: 'gke-gcloud-auth-plugin as gcloud writes it',
    command: 'gke-gcloud-auth-plugin',
    args: null,
    env: null,
    version: 'v1beta1',
    mode: 'IfAvailable',
    provideClusterInfo: true,
    installHint: 'Install gke-gcloud-auth-plugin for use with kubectl by following https://example',
  },
  {
    id: 'wild-azure-kubelogin',
    about: 'kubelogin of Azure after convert-kubeconfig',
    command: 'kubelogin',
    args: ['get-token', '--login', 'azurecli', '--server-id', '6dae42f8'],
    env: null,
    version: 'v1beta1',
    provideClusterInfo: false,
    installHint: 'kubelogin is not installed',
  },
  {
    id: 'wild-oidc-login',
    about: 'kubectl oidc-login of int128',
    command: 'kubectl',
    args: [
      'oidc-login',
      'get-token',
      '--oidc-issuer-url=https://issuer.example',
      '--oidc-client-id=c',
    ],
    version: 'v1',
    mode: 'Never',
  },
  {
    id: 'wild-tsh',
    about: 'tsh kube credentials by its absolute path, with a certificate',
    command: '{folder}/opt/tsh',
    args: ['kube', 'credentials', '--kube-cluster=dev', '--teleport-cluster=t', '--proxy=p:443'],
    version: 'v1beta1',
    answers: 'certificate',
  },
  {
    id: 'wild-doctl',
    about: 'doctl kubernetes cluster kubeconfig exec-credential',
    command: 'doctl',
    args: [
      ...['kubernetes', 'cluster', 'kubeconfig', 'exec-credential'],
      ...['--version=v1beta1', '--context=default', '1234'],
    ],
    env: null,
    version: 'v1beta1',
  },
  {
    id: 'wild-pinniped',
    about: 'pinniped login oidc with cluster information and a certificate',
    command: 'pinniped',
    args: ['login', 'oidc', '--enable-concierge', '--concierge-ca-bundle-data=Zm9v'],
    version: 'v1beta1',
    provideClusterInfo: true,
    installHint: 'The pinniped CLI does not appear to be installed.',
    answers: 'certificate',
  },
  {
    id: 'wild-gardenlogin',
    about: 'kubectl garden-login, configured by the cluster extension',
    command: 'kubectl',
    args: ['garden-login', 'get-client-certificate'],
    version: 'v1',
    mode: 'IfAvailable',
    provideClusterInfo: true,
    extension: { shootRef: { namespace: 'garden-dev', name: 'shoot' }, gardenClusterIdentity: 'g' },
    answers: 'certificate',
  },
  {
    id: 'wild-oci',
    about: 'oci ce cluster generate-token with an empty env',
    command: 'oci',
    args: [
      'ce',
      'cluster',
      'generate-token',
      '--cluster-id',
      'ocid1',
      '--region',
      'eu-frankfurt-1',
    ],
    env: [],
    version: 'v1beta1',
  },
  {
    id: 'wild-oc',
    about: 'oc get-token of OpenShift',
    command: 'oc',
    args: ['get-token', '--issuer-url=https://issuer.example', '--client-id=c'],
    version: 'v1',
    mode: 'IfAvailable',
  },
  {
    id: 'wild-rancher',
    about: 'rancher token without an end',
    command: 'rancher',
    args: ['token', '--server=rancher.example', '--user=jane'],
    version: 'v1beta1',
    endless: true,
  },
  {
    id: 'wild-mkectl',
    about: 'mkectl get-token, never interactive',
    command: 'mkectl',
    args: ['get-token', '--address=https://mke.example', '--ca-data=Zm9v'],
    version: 'v1',
    mode: 'Never',
    provideClusterInfo: false,
  },
  {
    id: 'wild-kops',
    about: 'kops helpers kubectl-auth with a certificate',
    command: 'kops',
    args: ['helpers', 'kubectl-auth', '--cluster=c', '--state=s3://s', '--api-version=v1beta1'],
    version: 'v1beta1',
    answers: 'certificate',
  },
  {
    id: 'wild-vault',
    about: 'a script around vault write, relative to the kubeconfig',
    command: './vault-login.sh',
    args: ['k8s/creds/dev'],
    version: 'v1',
    mode: 'Never',
  },
]

export const wildStanzas: readonly DifferentialCase[] = STANZAS.map((stanza) => ({
  id: stanza.id,
  about: stanza.about,
  play: (scene) => playStanza(stanza, scene),
}))

async function playStanza(stanza: Stanza, scene: Scene) {
  const apiVersion = `client.authentication.k8s.io/${stanza.version}`
  scene.pluginAt(placeOf(stanza.command), {
    stdout: scene.answer(await statusOf(stanza, scene), apiVersion),
  })
  const exec = {
    apiVersion,
    command: stanza.command.replace('{folder}', scene.folder),
    args: stanza.args,
    env: stanza.env,
    interactiveMode: stanza.mode,
    provideClusterInfo: stanza.provideClusterInfo,
    installHint: stanza.installHint,
  }
  const { extension } = stanza
  const extensions = [{ name: 'client.authentication.k8s.io/exec', extension }]
  scene.config({ user: { exec }, cluster: extension === undefined ? {} : { extensions } })
  return [{}]
}

function placeOf(command: string): string {
  if (command.startsWith('./')) return command.slice(2)
  return command.startsWith('{folder}/') ? command.slice('{folder}/'.length) : join('bin', command)
}

async function statusOf({ answers, endless }: Stanza, scene: Scene): Promise<object> {
  const end = endless ? {} : { expirationTimestamp: new Date(Date.now() + 840_000).toISOString() }
  if (answers === undefined) return { token: scene.token('jane'), ...end }
  const { certificate, key } = await scene.certificate('jane')
  return { clientCertificateData: certificate, clientKeyData: key, ...end }
}
