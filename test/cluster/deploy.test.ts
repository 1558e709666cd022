import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { COMMANDS } from '../../packages/cli/src/command-table.ts'
import { issue, makeAuthority } from './harness/certificates.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { ask } from './run/ask.ts'
import { ServiceAccount } from './run/bound-tokens.ts'
import { ownContainers, type PodSpec, startContainer } from './run/container.ts'
import { canBePod, NEEDS_POD } from './run/pod-process.ts'

const cluster = new TestCluster(inject('cluster'))
const FOLDER = fileURLToPath(new URL('../../deploy/kubernetes', import.meta.url))
const RESTRICTED = ['enforce', 'warn'].map(
  (what) => `pod-security.kubernetes.io/${what}=restricted`,
)
const SECRET = '/etc/kubecred/secret'
const TLS = '/etc/kubecred/tls'
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Runs kubectl as administrator; warnings are errors. */
function kubectl(...args: string[]): string {
  const { kubeconfig, programs, folder } = cluster.facts
  const all = ['--kubeconfig', kubeconfig, '--cache-dir', join(folder, 'cache')]
  const { status, stdout, stderr } = spawnSync(
    programs.kubectl,
    [...all, '--warnings-as-errors', ...args],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

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
    components: [relative(folder, join(FOLDER, 'sidecar'))],
  }
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization))
  return folder
}

interface Template {
  readonly metadata: object
  readonly spec: PodSpec
}

async function templateOf(namespace: string, name: string): Promise<Template> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`
  const { body } = await cluster.admin('GET', path)
  return body.spec.template
}

/** Creates a pod as a ReplicaSet would. */
async function createPod(namespace: string, { metadata, spec }: Template): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/pods`
  const pod = { metadata: { ...metadata, name: cluster.unique('pod') }, spec }
  const { status, text } = await cluster.admin('POST', path, pod)
  return status === 201 ? 'accepted' : text
}

let sidecars: string
let pods: Readonly<Record<'deployment' | 'sidecar', Template>>

beforeAll(async () => {
  kubectl('apply', '-f', join(FOLDER, 'deployment/namespace.yaml'))
  kubectl('label', 'namespace', 'kubecred', '--overwrite', ...RESTRICTED)
  sidecars = await cluster.namespace()
  kubectl('label', 'namespace', sidecars, ...RESTRICTED)
})

interface Rendered {
  readonly kind: string
  // biome-ignore lint/suspicious/noExplicitAny: a specification of any kind.
  readonly spec: any
}

describe('the Deployment rendered by kustomize', () => {
  const PROXY = { matchLabels: { 'app.kubernetes.io/name': 'kubecred-proxy' } }
  let items: readonly Rendered[]
  const spec = (kind: string): Rendered['spec'] => items.find((item) => item.kind === kind)?.spec
  beforeAll(() => {
    const path = join(FOLDER, 'deployment')
    items = JSON.parse(kubectl('apply', '--dry-run=client', '-o', 'json', '-k', path)).items
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
})

describe('deploy/kubernetes', () => {
  it.each([
    ['deployment', 7],
    ['sidecar-example', 2],
  ])('%s is what the API server wants', (name, count) => {
    const said = kubectl('apply', '--dry-run=server', '-k', join(FOLDER, name))
    expect(said.match(/\(server dry run\)$/gm)).toHaveLength(count)
  })

  describe('in the cluster', () => {
    beforeAll(async () => {
      kubectl('apply', '-k', join(FOLDER, 'deployment'))
      kubectl('apply', '-k', writeApplication(sidecars))
      pods = {
        deployment: await templateOf('kubecred', 'kubecred-proxy'),
        sidecar: await templateOf(sidecars, 'theirs'),
      }
    })

    it.each(['deployment', 'sidecar'] as const)(
      'uses only existing flags of the proxy: %s',
      (name) => {
        const flags = COMMANDS.find((command) => command.name === 'proxy')?.flags ?? []
        const [{ args: [command, ...args] = [] } = {}, ...others] = ownContainers(pods[name].spec)
        expect({ command, others }).toEqual({ command: 'proxy', others: [] })
        const named = args.map((arg) => /^--([\w-]+)/.exec(arg)?.[1])
        expect(named.length).toBeGreaterThan(3)
        expect(flags).toEqual(expect.arrayContaining(named))
      },
    )

    it('creates pods that meet the restricted standard', async () => {
      expect(await createPod('kubecred', pods.deployment)).toBe('accepted')
      expect(await createPod(sidecars, pods.sidecar)).toBe('accepted')
      // The standard is enforced: a pod that asks for more is rejected.
      const root = { containers: [{ name: 'root', image: 'root:1' }] }
      const refused = await createPod('kubecred', { metadata: {}, spec: root })
      expect(refused).toContain('violates PodSecurity')
    })

    describe.skipIf(!canBePod)(`as started by its manifest (${NEEDS_POD})`, () => {
      const secret = 'a-secret-of-the-test-suite'
      const headers = { authorization: `Bearer ${secret}` }

      /** Our container, with its own account and the contents of its volumes. */
      async function start(name: 'deployment' | 'sidecar', more = {}) {
        const { spec } = pods[name]
        const [container] = ownContainers(spec)
        if (container === undefined) throw new Error(`no container of ours in ${name}`)
        const account = await ServiceAccount.create(cluster, await cluster.namespace())
        const { token } = await account.token()
        const { namespace } = account
        const { caPem } = cluster.facts.access
        return startContainer(cluster, spec, container, {
          [ACCOUNT]: { token, 'ca.crt': caPem, namespace },
          [SECRET]: { secret },
          ...more,
        })
      }

      it.concurrent('the Deployment serves over TLS, read-only, and reports its health', async () => {
        const host = 'kubecred-proxy.kubecred.svc'
        const authority = await makeAuthority('proxy-ca')
        const names = [{ type: 'dns', value: host }] as const
        const pair = await issue('proxy-ca', authority, { user: host, names })
        const files = { 'tls.crt': pair.certificate, 'tls.key': pair.key }
        const { running, url, healthUrl } = await start('deployment', { [TLS]: files })
        const tls = { ca: authority.certificate, servername: host }
        const send = (path: string, options = {}) =>
          ask(`${url}${path}`, { ...tls, headers: { ...headers, host }, ...options })
        try {
          expect((await send('/version')).status).toBe(200)
          expect((await send('/version', { headers: { host } })).status).toBe(401)
          expect((await send('/api/v1/namespaces', { method: 'POST' })).status).toBe(403)
          expect(await ask(`${healthUrl}/livez`)).toEqual({ status: 200, text: 'ok\n' })
          expect(await ask(`${healthUrl}/readyz`)).toEqual({ status: 200, text: 'ok\n' })
        } finally {
          running.child.kill('SIGTERM')
        }
        expect(await running.end()).toBe(0)
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
