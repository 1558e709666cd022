import { fileURLToPath } from 'node:url'
import { connect } from 'kubecred'
import { loginWithServiceAccount } from 'kubecred/logins'
import { Vault } from 'kubecred/vault'
import { describe, expect, inject, it } from 'vitest'
import { credentialOf } from './harness/audit.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'
import { ask } from './run/ask.ts'
import { ServiceAccount } from './run/bound-tokens.ts'
import { canBePod, NEEDS_POD, startInPod } from './run/pod-process.ts'
import { ProjectedVolume } from './run/projected-volume.ts'

const cluster = new TestCluster(inject('cluster'))
const { server, caPem } = cluster.facts.access
const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'
const IDS = { user: 65_532, group: 65_532 }

/** A client in a pod that sends requests as the pod's service account. */
interface Client {
  /** Sends a request, and returns the status. */
  send(path: string): Promise<number>
  close(): Promise<unknown>
}

/** Starts a client with the service account of a folder and a namespace. */
type Open = (folder: string, namespace: string) => Promise<Client>

/** The library, in a process with only the environment of a pod. */
const viaConnect: Open = async (folder, namespace) => startAsking(folder, namespace, [])

/** The same program with `kubecred/register`, whose proxy it then uses. */
const viaRegister: Open = (folder, namespace) =>
  startAsking(folder, namespace, ['packages/core/dist/bundle/register.js'])

async function startAsking(
  folder: string,
  namespace: string,
  preload: readonly string[],
): Promise<Client> {
  const script = fileURLToPath(new URL('run/asks-in-pod.mjs', import.meta.url))
  const mounts = { [FOLDER]: folder }
  const running = startInPod({ mounts, ids: IDS, script, args: [], preload, cluster })
  await running.until('out', new RegExp(`namespace ${namespace}\n`))
  const isDirect = running.out.includes(`server ${server}\n`)
  expect(isDirect).toBe(preload.length === 0)
  let answers = 0
  return {
    async send(path) {
      answers += 1
      running.child.stdin?.write(`${path}\n`)
      const all = new RegExp(`(?:status (\\d+)\\n[^]*?){${answers}}`)
      return Number((await running.until('out', all))[1])
    },
    async close() {
      running.child.stdin?.end()
      expect(await running.end()).toBe(0)
    },
  }
}

/** The program, in the same kind of process. */
const viaProxy: Open = async (folder) => {
  const secret = 'a-secret-of-the-test-suite'
  const mode = { mode: 0o440, group: IDS.group }
  const kept = new ProjectedVolume(cluster.folder('secret'), mode).write({ secret })
  const running = startInPod({
    mounts: { [FOLDER]: folder, '/etc/kubecred/secret': kept.folder },
    ids: IDS,
    script: 'packages/cli/bin/kubecred.cjs',
    args: 'proxy -o json --port=0 --no-page --secret-file=/etc/kubecred/secret/secret'.split(' '),
    cluster,
  })
  const [line] = await running.until('out', /^.*\n/)
  const { url } = JSON.parse(line) as { url: string }
  const headers = { authorization: `Bearer ${secret}` }
  return {
    send: async (path) => (await ask(new URL(path, url).href, { headers })).status,
    async close() {
      running.child.kill('SIGTERM')
      expect(await running.end()).toBe(0)
    },
  }
}

/** The service account login of a vault, which accepts another folder. */
const viaVault: Open = async (folder) => {
  const { hostname, port } = new URL(server)
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
  const vault = new Vault()
  vault.onLogin((context) => loginWithServiceAccount(context, { folder, env }), { id: 'pod' })
  const ours = await connect({ vault })
  return {
    async send(path) {
      const answer = await ours.fetch(path)
      await answer.arrayBuffer()
      return answer.status
    },
    close: () => ours.close(),
  }
}

/** Replaces the token as the kubelet does, and expires the old one, while requests are sent: none of them may fail. */
async function outliveToken(open: Open): Promise<void> {
  const account = await ServiceAccount.create(cluster, await cluster.namespace())
  const { namespace, user } = account
  const volume = new ProjectedVolume(cluster.folder('account'))
  const write = (token: string) => volume.write({ token, 'ca.crt': caPem, namespace })
  const [first, second] = [await account.token(), await account.token()]
  write(first.token)
  const client = await open(volume.folder, namespace)
  const mark = cluster.unique('mark')
  const path = `/api/v1/namespaces/default/configmaps?limit=1&fieldManager=${mark}`
  const good = () => cluster.seen(mark).filter(({ responseStatus }) => responseStatus?.code === 200)
  const statuses = new Set<number>()
  try {
    // RBAC notices a new binding with a delay.
    await until(async () => (await client.send(path)) === 200)
    write(second.token)
    await first.end()
    await until(async () => {
      statuses.add(await client.send(path))
      return new Set(good().map(credentialOf)).size === 2
    })
    await untilRefused(first.token)
    for (const _ of [1, 2, 3]) statuses.add(await client.send(path))
  } finally {
    await client.close()
  }
  expect([...statuses]).toEqual([200])
  expect(new Set(good().map(({ user: by }) => by.username))).toEqual(new Set([user]))
}

async function untilRefused(token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  await until(async () => (await ask(`${server}/api`, { headers, ca: caPem })).status === 401)
}

describe.concurrent('in a pod', () => {
  it('loginWithServiceAccount() follows a token that the kubelet renews', () =>
    outliveToken(viaVault))

  const inPod = it.skipIf(!canBePod)
  inPod(`connect() does so with the files of a pod (${NEEDS_POD})`, () => outliveToken(viaConnect))
  inPod(`a program with kubecred/register does so with the files of a pod (${NEEDS_POD})`, () =>
    outliveToken(viaRegister),
  )
  inPod(`kubecred proxy does so with the files of a pod (${NEEDS_POD})`, () =>
    outliveToken(viaProxy),
  )

  inPod(`kubecred says that nothing is mounted (${NEEDS_POD})`, async () => {
    const script = 'packages/cli/bin/kubecred.cjs'
    const args = ['whoami']
    const running = startInPod({ mounts: {}, ids: IDS, script, args, cluster })
    expect(await running.end()).not.toBe(0)
    expect(running.err).toContain(`no service account is mounted at ${FOLDER}`)
  })
})
