/** The configuration of kwok: nodes are ready and pods run immediately, with logs, exec, attach and port-forward. */
export function kwokConfig({
  logFile,
  workFolder,
}: {
  logFile: string
  workFolder: string
}): string {
  const documents = [
    stage('node-ready', 'Node', NODE_IS_NEW, { statusTemplate: NODE_STATUS }),
    stage('pod-runs', 'Pod', POD_IS_NEW, { statusTemplate: POD_STATUS }),
    stage('pod-goes', 'Pod', POD_IS_LEAVING, { delete: true }),
    answer('ClusterExec', { execs: [{ local: { workDir: workFolder } }] }),
    answer('ClusterLogs', { logs: [{ logsFile: logFile }] }),
    answer('ClusterAttach', { attaches: [{ logsFile: logFile }] }),
    answer('ClusterPortForward', {
      forwards: [
        { ports: [HTTP_PORT], command: ['/bin/sh', '-c', SAYS_HELLO] },
        { command: ['cat'] },
      ],
    }),
  ]
  // Every YAML parser reads JSON.
  return documents.map((document) => `---\n${JSON.stringify(document)}\n`).join('')
}

/** The port of a web server in every pod; every other port is an echo. */
export const HTTP_PORT = 80

const SAYS_HELLO =
  'printf "HTTP/1.1 200 OK\\r\\nContent-Length: 6\\r\\nConnection: close\\r\\n\\r\\nhello\\n"'

const API = 'kwok.x-k8s.io/v1alpha1'
const READY = '.status.conditions.[] | select( .type == "Ready" ) | .status'
const NODE_IS_NEW = [{ key: READY, operator: 'NotIn', values: ['True'] }]
const LEAVING = '.metadata.deletionTimestamp'
const POD_IS_LEAVING = [{ key: LEAVING, operator: 'Exists' }]
const POD_IS_NEW = [
  { key: LEAVING, operator: 'DoesNotExist' },
  { key: '.status.phase', operator: 'In', values: ['Pending'] },
  { key: READY, operator: 'NotIn', values: ['True'] },
]

const NODE_STATUS = `
conditions:
{{ range NodeConditions }}
- { type: {{ .type | Quote }}, status: {{ .status | Quote }}, reason: {{ .reason | Quote }}, message: {{ .message | Quote }} }
{{ end }}
addresses:
- { type: InternalIP, address: {{ NodeIP | Quote }} }
daemonEndpoints: { kubeletEndpoint: { Port: {{ NodePort }} } }
allocatable: { cpu: 1k, memory: 1Ti, pods: 1M }
capacity: { cpu: 1k, memory: 1Ti, pods: 1M }
phase: Running
`

const POD_STATUS = `
{{ $now := Now }}
conditions:
- { type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }} }
- { type: ContainersReady, status: "True", lastTransitionTime: {{ $now | Quote }} }
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  restartCount: 0
  state: { running: { startedAt: {{ $now | Quote }} } }
{{ end }}
phase: Running
startTime: {{ $now | Quote }}
`

function stage(name: string, kind: string, matchExpressions: readonly object[], next: object) {
  const spec = { resourceRef: { apiGroup: 'v1', kind }, selector: { matchExpressions }, next }
  return { apiVersion: API, kind: 'Stage', metadata: { name }, spec }
}

/** Applies to every pod. */
function answer(kind: string, spec: object): object {
  return { apiVersion: API, kind, metadata: { name: 'everywhere' }, spec }
}
