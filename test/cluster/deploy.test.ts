import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { COMMANDS } from '../../packages/cli/src/command-table.ts'
import { issue, makeAuthority } from './harness/certificates.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'
import { adminKubectl, MANIFESTS, type Rendered, render } from './run/admin-kubectl.ts'
import { ask } from './run/ask.ts'
import { ServiceAccount } from './run/bound-tokens.ts'
import { AUDIENCE, CallersScene } from './run/callers-scene.ts'
import { ownContainers, type PodSpec, startContainer } from './run/container.ts'
import { canBePod, NEEDS_POD } from './run/pod-process.ts'

const cluster = new TestCluster(inject('cluster'))
const RESTRICTED = ['enforce', 'warn'].map(
  (what) => `pod-security.kubernetes.io/${what}=restricted`,
)
const SECRET = '/etc/kubecred/secret'
const TLS = '/etc/kubecred/tls'
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

const kubectl = (...args: string[]): string => adminKubectl(cluster, ...args)

/** A third-party application that meets the restricted standard, with the sidecar. */
function writeApplication(namespace: string): string {
  const folder = cluster.folder('application')
  const securityContext = {
    runAsNonRoot: true,
    runAsUser: 1000,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  }
  const labels = { app: 'theirs' }
  const containers = [{ name: 'theirs', image: 'theirs:1', securityContext }]
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'theirs', annotations: { 'kubecred/sidecar': 'true' } },
    spec: {
      selector: { matchLabels: labels },
      // The admission plugin that sets the account is not enabled here.
      template: { metadata: { labels }, spec: { serviceAccountName: 'default', containers } },
    },
  }
  writeFileSync(join(folder, 'application.json'), JSON.stringify(deployment))
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace,
    resources: ['application.json'],
    components: [relative(folder, join(MANIFESTS, 'sidecar'))],
  }
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization))
  return folder
}

interface Template {
  readonly metadata: object
  readonly spec: PodSpec
}

/** Returns the pod of the Deployment that a folder renders, with the defaults of the API server. */
function templateOf(folder: string): Template {
  const made = JSON.parse(kubectl('apply', '--dry-run=server', '-o', 'json', '-k', folder))
  // Several objects are a list, one is itself.
  const items: readonly Rendered[] = made.items ?? [made]
  return items.find(({ kind }) => kind === 'Deployment')?.spec.template
}

/** Creates a pod as a ReplicaSet would. */
async function createPod(namespace: string, { metadata, spec }: Template): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/pods`
  const pod = { metadata: { ...metadata, name: cluster.unique('pod') }, spec }
  const { status, text } = await cluster.admin('POST', path, pod)
  return status === 201 ? 'accepted' : text
}

const OVERLAYS = ['token-review', 'shared-secret'] as const
const NAMES = [...OVERLAYS, 'sidecar'] as const
type Name = (typeof NAMES)[number]

let sidecars: string
let pods: Readonly<Record<Name, Template>>

beforeAll(async () => {
  kubectl('apply', '-f', join(MANIFESTS, 'base/namespace.yaml'))
  kubectl('label', 'namespace', 'kubecred', '--overwrite', ...RESTRICTED)
  sidecars = await cluster.namespace()
  kubectl('label', 'namespace', sidecars, ...RESTRICTED)
})

describe.each(OVERLAYS)('the overlay %s rendered by kustomize', (name) => {
  const PROXY = { matchLabels: { 'app.kubernetes.io/name': 'kubecred-proxy' } }
  let items: readonly Rendered[]
  const spec = (kind: string): Rendered['spec'] => items.find((item) => item.kind === kind)?.spec
  beforeAll(() => {
    items = render(cluster, `overlays/${name}`)
  })

  it('selects the pods of the proxy, and admits clients with its label', () => {
    expect(spec('Deployment').selector).toEqual(PROXY)
    expect(spec('PodDisruptionBudget').selector).toEqual(PROXY)
    expect(spec('NetworkPolicy').podSelector).toEqual(PROXY)
    expect(spec('Service').selector).toEqual(PROXY.matchLabels)
    expect(spec('NetworkPolicy').ingress[0].from).toEqual([
      { namespaceSelector: {}, podSelector: { matchLabels: { 'kubecred/proxy-client': 'true' } } },
    ])
  })

  it('has enough time to end', () => {
    const { terminationGracePeriodSeconds: limit, containers } = spec('Deployment').template.spec
    const args: string = containers[0].args.join(' ')
    const [, delay, grace] = /--shutdown-delay=(\d+)s .*--shutdown-grace=(\d+)s/.exec(args) ?? []
    expect(limit).toBeGreaterThan(Number(delay) + Number(grace))
  })
})

describe('deploy/kubernetes', () => {
  it.each([
    ['overlays/token-review', 9],
    ['overlays/shared-secret', 7],
    ['sidecar-example', 2],
  ])('%s is what the API server wants', (name, count) => {
    const said = kubectl('apply', '--dry-run=server', '-k', join(MANIFESTS, name))
    expect(said.match(/\(server dry run\)$/gm)).toHaveLength(count)
  })

  describe('in the cluster', () => {
    beforeAll(() => {
      pods = {
        'token-review': templateOf(join(MANIFESTS, 'overlays/token-review')),
        'shared-secret': templateOf(join(MANIFESTS, 'overlays/shared-secret')),
        sidecar: templateOf(writeApplication(sidecars)),
      }
    })

    it.each(NAMES)('uses only existing flags of the proxy: %s', (name) => {
      const flags = COMMANDS.find((command) => command.name === 'proxy')?.flags ?? []
      const [{ args: [command, ...args] = [] } = {}, ...others] = ownContainers(pods[name].spec)
      expect({ command, others }).toEqual({ command: 'proxy', others: [] })
      const named = args.map((arg) => /^--([\w-]+)/.exec(arg)?.[1])
      expect(named.length).toBeGreaterThan(3)
      expect(flags).toEqual(expect.arrayContaining(named))
    })

    it('creates pods that meet the restricted standard', async () => {
      for (const name of OVERLAYS) {
        expect(await createPod('kubecred', pods[name])).toBe('accepted')
      }
      expect(await createPod(sidecars, pods.sidecar)).toBe('accepted')
      // The standard is enforced: a pod that asks for more is rejected.
      const root = { containers: [{ name: 'root', image: 'root:1' }] }
      const refused = await createPod('kubecred', { metadata: {}, spec: root })
      expect(refused).toContain('violates PodSecurity')
    })

    describe.skipIf(!canBePod)(`as started by its manifest (${NEEDS_POD})`, () => {
      const secret = 'a-secret-of-the-test-suite'
      const headers = { authorization: `Bearer ${secret}` }

      /** Our container, with an account and the contents of its volumes. */
      async function start(name: Name, more = {}, given?: ServiceAccount) {
        const { spec } = pods[name]
        const [container] = ownContainers(spec)
        if (container === undefined) throw new Error(`no container of ours in ${name}`)
        const account = given ?? (await ServiceAccount.create(cluster, await cluster.namespace()))
        const { token } = await account.token()
        const { namespace } = account
        const { caPem } = cluster.facts.access
        return startContainer(cluster, spec, container, {
          [ACCOUNT]: { token, 'ca.crt': caPem, namespace },
          [SECRET]: { secret },
          ...more,
        })
      }

      const host = 'kubecred-proxy.kubecred.svc'

      /** The files of a certificate for the name of the Service, and how a client checks it. */
      async function makeTls() {
        const authority = await makeAuthority('proxy-ca')
        const names = [{ type: 'dns', value: host }] as const
        const pair = await issue('proxy-ca', authority, { user: host, names })
        const files = { 'tls.crt': pair.certificate, 'tls.key': pair.key }
        return { files, client: { ca: authority.certificate, servername: host } }
      }

      it.concurrent('the overlay shared-secret serves over TLS, read-only, with health and metrics', async () => {
        const tls = await makeTls()
        const { running, url, healthUrl } = await start('shared-secret', { [TLS]: tls.files })
        const send = (path: string, options = {}) =>
          ask(`${url}${path}`, { ...tls.client, headers: { ...headers, host }, ...options })
        try {
          expect((await send('/version')).status).toBe(200)
          expect((await send('/version', { headers: { host } })).status).toBe(401)
          expect((await send('/api/v1/namespaces', { method: 'POST' })).status).toBe(403)
          expect(await ask(`${healthUrl}/livez`)).toEqual({ status: 200, text: 'ok\n' })
          expect(await ask(`${healthUrl}/readyz`)).toEqual({ status: 200, text: 'ok\n' })
          expect((await ask(`${healthUrl}/metrics`)).text).toContain(
            'kubecred_proxy_requests_total{',
          )
        } finally {
          running.child.kill('SIGTERM')
        }
        expect(await running.end()).toBe(0)
        expect(running.out).toMatch(/"status":401,.*"refused":"the secret"/)
      })

      it.concurrent('the overlay token-review serves callers by their own tokens', async () => {
        const tls = await makeTls()
        const scene = await CallersScene.create(cluster)
        const caller = await ServiceAccount.create(cluster, scene.namespace, 'web')
        const { token } = await caller.token([AUDIENCE])
        const { running, url } = await start('token-review', { [TLS]: tls.files }, scene.proxy)
        const send = (more = {}) =>
          ask(`${url}/version`, { ...tls.client, headers: { host, ...more } })
        try {
          const authorization = `Bearer ${token}`
          await until(async () => (await send({ authorization })).status === 200)
          expect((await send()).status).toBe(401)
          expect((await send(headers)).status).toBe(401)
        } finally {
          running.child.kill('SIGTERM')
        }
        expect(await running.end()).toBe(0)
        expect(running.out).toContain(`"caller":"${caller.user}"`)
      })

      it.concurrent('the sidecar serves its pod', async () => {
        const { running, url, healthUrl } = await start('sidecar')
        try {
          expect((await ask(`${url}/version`, { headers })).status).toBe(200)
          expect((await ask(`${url}/version`)).status).toBe(401)
          expect((await ask(`${healthUrl}/readyz`)).status).toBe(200)
        } finally {
          running.child.kill('SIGTERM')
        }
        expect(await running.end()).toBe(0)
      })
    })
  })
})
