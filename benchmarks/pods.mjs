// Pods as a Deployment makes them, with the fields and the size (about 3.5 KB) that they have in a cluster.
import { createHash } from 'node:crypto'

const APPS = ['checkout', 'catalogue', 'payments', 'search', 'shipping', 'accounts', 'mailer']

/** A list of pods. */
export function makePodList(count = 500) {
  return {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '1048576' },
    items: Array.from({ length: count }, (_, number) => makePod(number)),
  }
}

/** Events of a watch, one line each. */
export function makeEvents(count = 50) {
  return Array.from({ length: count }, (_, number) => {
    const object = { kind: 'Pod', apiVersion: 'v1', ...makePod(number) }
    return Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object })}\n`)
  })
}

/** One pod. `spec` and the name and labels are enough to create it. */
export function makePod(number) {
  const app = APPS[number % APPS.length]
  const template = digest('template', app).slice(0, 10)
  const labels = {
    'app.kubernetes.io/name': app,
    'app.kubernetes.io/version': '1.27.3',
    'app.kubernetes.io/part-of': 'shop',
    'pod-template-hash': template,
  }
  return {
    metadata: {
      name: `${app}-${template}-${digest('name', number).slice(0, 5)}`,
      generateName: `${app}-${template}-`,
      namespace: 'default',
      uid: uid('pod', number),
      resourceVersion: String(1_000_000 + number),
      creationTimestamp: timeOf(number),
      labels,
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9102' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `${app}-${template}`,
          uid: uid('owner', app),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [
        managedBy('kube-controller-manager', number, {
          'f:metadata': {
            'f:labels': { 'f:app.kubernetes.io/name': {}, 'f:pod-template-hash': {} },
          },
          'f:spec': {
            'f:containers': {
              [`k:{"name":"${app}"}`]: { 'f:env': {}, 'f:image': {}, 'f:ports': {} },
            },
            'f:restartPolicy': {},
            'f:securityContext': {},
          },
        }),
        managedBy('kubelet', number, {
          'f:status': {
            'f:conditions': {
              'k:{"type":"Ready"}': { 'f:status': {}, 'f:lastTransitionTime': {} },
            },
            'f:containerStatuses': {},
            'f:hostIP': {},
            'f:phase': {},
            'f:podIP': {},
          },
        }),
      ],
    },
    spec: podSpec(app, number),
    status: podStatus(app, number),
  }
}

function managedBy(manager, number, fieldsV1) {
  const fields = { apiVersion: 'v1', time: timeOf(number), fieldsType: 'FieldsV1', fieldsV1 }
  return { manager, operation: 'Update', ...fields }
}

function podSpec(app, number) {
  const probe = { httpGet: { path: '/healthz', port: 'http', scheme: 'HTTP' }, periodSeconds: 10 }
  return {
    volumes: [{ name: 'config', configMap: { name: app, defaultMode: 420 } }],
    containers: [
      {
        name: app,
        image: imageOf(app),
        args: ['--listen=:8080', '--metrics=:9102', `--shard=${number % 16}`],
        ports: [
          { name: 'http', containerPort: 8080, protocol: 'TCP' },
          { name: 'metrics', containerPort: 9102, protocol: 'TCP' },
        ],
        env: [
          { name: 'LOG_LEVEL', value: 'info' },
          { name: 'DATABASE_HOST', value: 'postgres.default.svc.cluster.local' },
          {
            name: 'DATABASE_PASSWORD',
            valueFrom: { secretKeyRef: { name: app, key: 'password' } },
          },
          {
            name: 'POD_IP',
            valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } },
          },
        ],
        resources: {
          limits: { memory: '512Mi' },
          requests: { cpu: '250m', memory: '256Mi' },
        },
        volumeMounts: [{ name: 'config', readOnly: true, mountPath: `/etc/${app}` }],
        livenessProbe: probe,
        readinessProbe: probe,
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
        securityContext: {
          capabilities: { drop: ['ALL'] },
          runAsNonRoot: true,
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
        },
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: ['not-ready', 'unreachable'].map((taint) => ({
      key: `node.kubernetes.io/${taint}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
  }
}

function podStatus(app, number) {
  const time = timeOf(number)
  const podIP = `10.${number >> 8}.${number & 255}.7`
  const conditions = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled']
  return {
    phase: 'Running',
    conditions: conditions.map((type) => ({
      type,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: time,
    })),
    hostIP: '192.0.2.7',
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: time,
    containerStatuses: [
      {
        name: app,
        state: { running: { startedAt: time } },
        lastState: {},
        ready: true,
        restartCount: number % 3,
        image: imageOf(app),
        imageID: `${imageOf(app)}@sha256:${digest('image', app)}`,
        containerID: `containerd://${digest('container', number)}`,
        started: true,
      },
    ],
    qosClass: 'Burstable',
  }
}

function imageOf(app) {
  return `registry.example.com/shop/${app}:1.27.3`
}

/** A time that differs from pod to pod. */
function timeOf(number) {
  return new Date(Date.UTC(2026, 0, 1) + number * 7919_000).toISOString().replace('.000', '')
}

function uid(...parts) {
  return digest(...parts).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}

/** Digits that compress as badly as those of a real cluster, and are the same in every run. */
function digest(...parts) {
  return createHash('sha256').update(parts.join(' ')).digest('hex')
}
