// What the cluster suite runs, and the Go modules it is built from. A new version is a new line here; nothing else knows.

const KUBERNETES = '1.37.1'
const MINOR = KUBERNETES.split('.')[1]
/** The staging modules of a release have its number with a zero in front, in the place of its one. */
const STAGING = `v0${KUBERNETES.slice(1)}`
/** Modules that k8s.io/kubernetes replaces by folders of its own tree; outside of that tree these are published. */
const STAGED = [
  'api apiextensions-apiserver apimachinery apiserver cli-runtime client-go cloud-provider',
  'cluster-bootstrap code-generator component-base component-helpers controller-manager cri-api',
  'cri-client cri-streaming csi-translation-lib dynamic-resource-allocation endpointslice externaljwt',
  'kms kube-aggregator kube-controller-manager kube-proxy kube-scheduler kubectl kubelet metrics',
  'mount-utils pod-security-admission sample-apiserver sample-cli-plugin sample-controller streaming',
].flatMap((line) => line.split(' '))

const kubernetes = {
  module: 'k8s.io/kubernetes',
  version: `v${KUBERNETES}`,
  replace: STAGED.map((name) => `k8s.io/${name} => k8s.io/${name} ${STAGING}`),
  // Without them the server calls itself v0.0.0 and thinks it is older than its own API.
  variables: {
    'k8s.io/component-base/version.gitVersion': `v${KUBERNETES}`,
    'k8s.io/component-base/version.gitMajor': '1',
    'k8s.io/component-base/version.gitMinor': MINOR,
    'k8s.io/component-base/version.gitTreeState': 'clean',
  },
}

/** Each program with its module, the Go package that is its main, and how long a cold build takes on two cores. */
export const PROGRAMS = [
  { name: 'etcd', go: { module: 'go.etcd.io/etcd/server/v3', version: 'v3.7.3' }, minutes: 1 },
  { name: 'kube-apiserver', go: kubernetes, main: 'cmd/kube-apiserver', minutes: 7 },
  { name: 'kubectl', go: kubernetes, main: 'cmd/kubectl', minutes: 1 },
  {
    name: 'kwok',
    go: {
      module: 'sigs.k8s.io/kwok',
      version: 'v0.8.0',
      variables: { 'sigs.k8s.io/kwok/pkg/consts.Version': 'v0.8.0' },
    },
    main: 'cmd/kwok',
    minutes: 2,
  },
]

/** Plugins nobody here wrote, for the tests that need them: the suite runs without. */
export const PLUGINS = [
  {
    name: 'kubelogin',
    go: { module: 'github.com/int128/kubelogin', version: 'v1.36.3' },
    minutes: 2,
  },
  {
    name: 'aws-iam-authenticator',
    go: { module: 'sigs.k8s.io/aws-iam-authenticator', version: 'v0.7.18' },
    main: 'cmd/aws-iam-authenticator',
    minutes: 4,
  },
]

/** The same, from PyPI. */
export const AWSCLI = '1.46.2'

/** A Java client whose watches are WebSockets, from Maven Central. */
export const FABRIC8 = '7.3.1'
