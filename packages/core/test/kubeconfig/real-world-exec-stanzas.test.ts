import { describe, expect, it } from 'vitest'
import { buildConnection } from '../../src/kubeconfig/build-connection.ts'
import type { Connection } from '../../src/kubeconfig/connection.ts'
import { parseKubeconfigText } from '../../src/kubeconfig/parse-kubeconfig.ts'
import { AROUND, FILE, thrownBy } from './build-test-connection.ts'

const [V1, V1BETA1] = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

/** The expected fields of a stanza, unless a case has others. */
const DEFAULTS = {
  apiVersion: V1BETA1,
  args: [] as readonly string[],
  env: [] as readonly string[],
  interactiveMode: 'IfAvailable',
  provideClusterInfo: false,
  installHint: undefined as string | undefined,
}

interface Stanza {
  readonly plugin: string
  /** The YAML that the tool writes. */
  readonly exec: string
  readonly cluster?: string
  readonly means: Partial<typeof DEFAULTS> & { readonly command: string }
  readonly extension?: unknown
}

const STANZAS: readonly Stanza[] = [
  {
    plugin: 'aws eks update-kubeconfig, with a profile and a role',
    exec: `
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [--region, eu-west-1, eks, get-token, --cluster-name, demo, --output, json, --role, "arn:aws:iam::1:role/a"]
      command: aws
      env:
      - name: AWS_PROFILE
        value: work`,
    means: {
      command: 'aws',
      args: words(
        '--region eu-west-1 eks get-token --cluster-name demo --output json --role arn:aws:iam::1:role/a',
      ),
      env: ['AWS_PROFILE=work'],
    },
  },
  {
    plugin: 'aws-iam-authenticator',
    exec: `
      apiVersion: client.authentication.k8s.io/v1beta1
      command: aws-iam-authenticator
      args:
        - "token"
        - "-i"
        - "demo"
        - "-r"
        - "arn:aws:iam::1:role/a"`,
    means: {
      command: 'aws-iam-authenticator',
      args: words('token -i demo -r arn:aws:iam::1:role/a'),
    },
  },
  {
    plugin: 'gcloud, whose lists are null',
    exec: `
      apiVersion: client.authentication.k8s.io/v1beta1
      args: null
      command: gke-gcloud-auth-plugin
      env: null
      installHint: Install gke-gcloud-auth-plugin for use with kubectl by following
        https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl#install_plugin
      interactiveMode: IfAvailable
      provideClusterInfo: true`,
    means: {
      command: 'gke-gcloud-auth-plugin',
      provideClusterInfo: true,
      installHint:
        'Install gke-gcloud-auth-plugin for use with kubectl by following ' +
        'https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl#install_plugin',
    },
  },
  {
    plugin: 'kubelogin convert-kubeconfig of Azure, whose hint has several lines',
    exec: `
      apiVersion: client.authentication.k8s.io/v1beta1
      args:
      - get-token
      - --login
      - azurecli
      - --server-id
      - 6dae42f8-4368-4678-94ff-3960e28e3630
      command: kubelogin
      env: null
      installHint: |2

        kubelogin is not installed.
        See https://aka.ms/aks/kubelogin
      provideClusterInfo: false`,
    means: {
      command: 'kubelogin',
      args: words('get-token --login azurecli --server-id 6dae42f8-4368-4678-94ff-3960e28e3630'),
      installHint: '\nkubelogin is not installed.\nSee https://aka.ms/aks/kubelogin\n',
    },
  },
  {
    plugin: 'kubectl oidc-login setup',
    exec: `
      apiVersion: client.authentication.k8s.io/v1
      args: [oidc-login, get-token, --oidc-issuer-url=https://issuer.example, --oidc-client-id=kube]
      command: kubectl
      env: null
      interactiveMode: Never
      provideClusterInfo: false`,
    means: {
      command: 'kubectl',
      apiVersion: V1,
      args: words(
        'oidc-login get-token --oidc-issuer-url=https://issuer.example --oidc-client-id=kube',
      ),
      interactiveMode: 'Never',
    },
  },
  {
    plugin: 'tsh kube login, a path with a space',
    exec: `
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [kube, credentials, --kube-cluster=demo, --teleport-cluster=root, --proxy=proxy.example:443]
      command: /Applications/Teleport Connect.app/Contents/MacOS/tsh
      env: null
      provideClusterInfo: false`,
    means: {
      command: '/Applications/Teleport Connect.app/Contents/MacOS/tsh',
      args: words(
        'kube credentials --kube-cluster=demo --teleport-cluster=root --proxy=proxy.example:443',
      ),
    },
  },
  {
    plugin: 'doctl',
    exec: `
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [kubernetes, cluster, kubeconfig, exec-credential, --version=v1beta1, --context=default, 1e0-2f]
      command: doctl
      env: null
      provideClusterInfo: false`,
    means: {
      command: 'doctl',
      args: words(
        'kubernetes cluster kubeconfig exec-credential --version=v1beta1 --context=default 1e0-2f',
      ),
    },
  },
  {
    plugin: 'pinniped get kubeconfig',
    exec: `
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [login, oidc, --enable-concierge, --issuer=https://issuer.example, --client-id=pinniped-cli]
      command: /usr/local/bin/pinniped
      env: []
      installHint: The pinniped CLI does not appear to be installed.
      provideClusterInfo: true`,
    means: {
      command: '/usr/local/bin/pinniped',
      args: words(
        'login oidc --enable-concierge --issuer=https://issuer.example --client-id=pinniped-cli',
      ),
      installHint: 'The pinniped CLI does not appear to be installed.',
      provideClusterInfo: true,
    },
  },
  {
    plugin: 'gardenlogin, whose cluster says which shoot it is',
    cluster: `
      extensions:
      - name: client.authentication.k8s.io/exec
        extension:
          gardenClusterIdentity: landscape
          shootRef: { namespace: garden-core, name: demo }`,
    exec: `
      apiVersion: client.authentication.k8s.io/v1beta1
      command: kubectl
      args: [garden-login, get-client-certificate]
      env: null
      provideClusterInfo: true`,
    means: {
      command: 'kubectl',
      args: words('garden-login get-client-certificate'),
      provideClusterInfo: true,
    },
    extension: {
      gardenClusterIdentity: 'landscape',
      shootRef: { namespace: 'garden-core', name: 'demo' },
    },
  },
  {
    plugin: 'oci',
    exec: `
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [ce, cluster, generate-token, --cluster-id, ocid1.cluster.oc1.a, --region, eu-frankfurt-1, --profile, DEFAULT]
      command: oci
      env: []`,
    means: {
      command: 'oci',
      args: words(
        'ce cluster generate-token --cluster-id ocid1.cluster.oc1.a --region eu-frankfurt-1 --profile DEFAULT',
      ),
    },
  },
  {
    plugin: 'oc login with an issuer',
    exec: `
      apiVersion: client.authentication.k8s.io/v1
      args: [get-token, --issuer-url=https://issuer.example, --client-id=oc]
      command: oc
      interactiveMode: IfAvailable`,
    means: {
      command: 'oc',
      apiVersion: V1,
      args: words('get-token --issuer-url=https://issuer.example --client-id=oc'),
    },
  },
  {
    plugin: 'rancher',
    exec: `
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [token, --server=rancher.example, --user=u-1]
      command: rancher`,
    means: { command: 'rancher', args: words('token --server=rancher.example --user=u-1') },
  },
  {
    plugin: 'mkectl',
    exec: `
      apiVersion: client.authentication.k8s.io/v1
      args: [get-token, --address=https://mke.example, --ca-data=LS0t]
      command: mkectl
      interactiveMode: Never
      provideClusterInfo: false`,
    means: {
      command: 'mkectl',
      apiVersion: V1,
      args: words('get-token --address=https://mke.example --ca-data=LS0t'),
      interactiveMode: 'Never',
    },
  },
  {
    plugin: 'kops, which gets the version as an argument',
    exec: `
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [helpers, kubectl-auth, --cluster=demo.example, --state=s3://bucket, --api-version=v1beta1]
      command: /usr/local/bin/kops`,
    means: {
      command: '/usr/local/bin/kops',
      args: words(
        'helpers kubectl-auth --cluster=demo.example --state=s3://bucket --api-version=v1beta1',
      ),
    },
  },
  {
    plugin: 'a script around vault, beside the kubeconfig',
    exec: `
      apiVersion: client.authentication.k8s.io/v1
      command: ./vault-login.sh
      env: [{ name: VAULT_ADDR, value: "https://vault.example:8200" }, { name: ROLE, value: "" }]
      interactiveMode: IfAvailable
      provideClusterInfo: true`,
    means: {
      command: '/home/ann/.kube/vault-login.sh',
      apiVersion: V1,
      env: ['VAULT_ADDR=https://vault.example:8200', 'ROLE='],
      provideClusterInfo: true,
    },
  },
  {
    plugin: 'Scaleway, which is v1',
    exec: `
      apiVersion: client.authentication.k8s.io/v1
      command: scw
      args: [k8s, exec-credential]
      interactiveMode: Never`,
    means: {
      command: 'scw',
      apiVersion: V1,
      args: words('k8s exec-credential'),
      interactiveMode: 'Never',
    },
  },
]

describe('the exec stanza is read that is written by', () => {
  it.each(STANZAS)('$plugin', ({ exec, cluster = '', means, extension }) => {
    const { user, cluster: target, warnings } = connectionOf(exec, cluster)
    const read = user.exec
    expect({
      apiVersion: read?.apiVersion,
      command: read?.command,
      args: read?.args.map((arg) => arg.expose()),
      env: read?.env.map(({ name, value }) => `${name}=${value.expose()}`),
      interactiveMode: read?.interactiveMode,
      provideClusterInfo: read?.provideClusterInfo,
      installHint: read?.installHint,
    }).toEqual({ ...DEFAULTS, ...means })
    expect(target.execExtension).toEqual(extension)
    expect(warnings).toEqual([])
  })
})

describe('the exec stanza in the README of kubelogin', () => {
  it('is rejected: it is v1 without an interactiveMode, which kubectl rejects too', () => {
    const stanza = `
      apiVersion: client.authentication.k8s.io/v1
      command: kubectl
      args: [oidc-login, get-token, --oidc-issuer-url=https://issuer.example, --oidc-client-id=kube]`
    const { code, message, hint } = thrownBy(() => connectionOf(stanza))
    expect(code).toBe('ERR_KUBECONFIG_INVALID')
    expect(message).toContain('without an interactiveMode')
    expect(hint).toContain('Never, IfAvailable, Always')
  })
})

function words(text: string): readonly string[] {
  return text.split(' ')
}

function connectionOf(exec: string, cluster = ''): Connection {
  const text = `
apiVersion: v1
kind: Config
clusters:
- name: k
  cluster:
      server: https://k.example${cluster}
users:
- name: u
  user:
    exec:${exec}
contexts: [{ name: c, context: { cluster: k, user: u } }]
current-context: c
`
  return buildConnection(parseKubeconfigText(text, FILE), {}, AROUND)
}
