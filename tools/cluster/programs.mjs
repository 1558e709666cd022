// The programs of the cluster suite and the Go modules they are built from. This is the only place with their versions.

const KUBERNETES = '1.37.1'
const MINOR = KUBERNETES.split('.')[1]
/** The staging modules of Kubernetes 1.x.y have the version 0.x.y. */
const STAGING = `v0${KUBERNETES.slice(1)}`
/** Modules that k8s.io/kubernetes replaces by folders of its own tree; elsewhere the published ones are needed. */
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
  // Without these flags the server reports v0.0.0 and considers itself older than its own API.
  variables: {
    'k8s.io/component-base/version.gitVersion': `v${KUBERNETES}`,
    'k8s.io/component-base/version.gitMajor': '1',
    'k8s.io/component-base/version.gitMinor': MINOR,
    'k8s.io/component-base/version.gitTreeState': 'clean',
  },
}

/** Each program with its module, its main package, and the time of a cold build on two cores. */
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

/** Third-party plugins. They are optional: the suite runs without them. */
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

/** A third-party plugin from PyPI. */
export const AWSCLI = '1.46.2'

/** A Java client from Maven Central whose watches are WebSockets. */
export const FABRIC8 = '7.3.1'

/** Packages from npm that embed @kubernetes/client-node: three programs (one is also a library), and a library. */
export const NPM_PROGRAMS = {
  '@dot-i/k8s-operator': '1.3.9',
  'kubernetes-fluent-client': '3.10.1',
  'mcp-server-kubernetes': '2.9.6',
  pepr: '20.0.0',
}
