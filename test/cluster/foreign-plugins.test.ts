import { spawn } from 'node:child_process'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { type Cluster, connect } from 'kubecred'
import { attach } from 'kubecred/client-node'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  AgentHome,
  collect,
  type Ended,
  TOKEN_PROGRAM,
} from '../../packages/cli/test/token-program/agent-home.ts'
import { findPlugin, type PluginName, whySkipped } from './foreign/find-plugin.ts'
import { type ForeignStage, startForeignStage } from './foreign/foreign-stage.ts'
import { FOREIGN_USERS, type ForeignUser, oidcUser } from './foreign/foreign-users.ts'
import { STRANGER } from './foreign/login-issuer.ts'
import { until } from './harness/until.ts'

const BUILD_MS = 900_000
const [V1, V1BETA1] = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']
const NAMES = Object.keys(FOREIGN_USERS) as PluginName[]
/** kubelogin stores the account in a file at login, so another account may be used afterwards. */
const RUNS_BEHIND_AGENT = { kubelogin: 2, 'aws-iam-authenticator': 1, aws: 1 }
const AWS_NAMES = NAMES.filter((name) => name !== 'kubelogin')

const programs = new Map<PluginName, string>()
let stage: ForeignStage

beforeAll(async () => {
  for (const name of NAMES) {
    if (whySkipped(name) === undefined) programs.set(name, await findPlugin(name))
  }
  stage = await startForeignStage()
}, BUILD_MS)
afterAll(() => stage?.[Symbol.asyncDispose]())

/** A unique path, so that the request can be found in the audit log. It need not exist. */
const newPlace = (): string => stage.cluster.unique('ns')
const pathOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`

function newUser(name: PluginName, home = stage.cluster.folder('home')): ForeignUser {
  return FOREIGN_USERS[name]({ stage, home, program: programs.get(name) ?? '' })
}

function connectAs({ exec, env }: ForeignUser): Promise<Cluster> {
  return connect({ kubeconfig: stage.cluster.kubeconfig({ user: { exec } }), env })
}

async function ask(cluster: Cluster, namespace: string): Promise<number> {
  const answer = await cluster.fetch(pathOf(namespace))
  await answer.arrayBuffer()
  return answer.status
}

/** The audit events of the requests, oldest first: the user and the status. */
function seen(namespace: string): (readonly [string | undefined, number | undefined])[] {
  const events = stage.cluster.seen(pathOf(namespace))
  return events.map(({ user, responseStatus }) => [user.username, responseStatus?.code])
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)]
const usersSeen = (namespace: string) => distinct(seen(namespace).map(([user]) => user))

for (const name of NAMES) {
  const reason = whySkipped(name)
  const title = reason === undefined ? name : `${name} (${reason})`
  describe.skipIf(reason !== undefined).concurrent(`unmodified ${title}`, () => {
    it('runs once for many requests of fetch', async () => {
      const user = newUser(name)
      const cluster = await connectAs(user)
      const namespace = newPlace()
      const asked = Array.from({ length: 10 }, () => ask(cluster, namespace))
      expect(distinct(await Promise.all(asked))).toEqual([200])
      expect(await ask(cluster, namespace)).toBe(200)
      await cluster.close()
      expect(user.plugin.execInfos).toEqual([
        { kind: 'ExecCredential', apiVersion: user.exec.apiVersion, spec: { interactive: false } },
      ])
      expect(usersSeen(namespace)).toEqual([user.name])
    })

    it('runs once behind client-node, with the other API version', async () => {
      const user = newUser(name)
      const apiVersion = user.exec.apiVersion === V1 ? V1BETA1 : V1
      const exec = { ...user.exec, apiVersion, provideClusterInfo: true }
      const config = new KubeConfig()
      config.loadFromFile(stage.cluster.kubeconfig({ user: { exec } }))
      const attachment = attach(config, { env: user.env })
      const api = config.makeApiClient(CoreV1Api)
      const namespace = newPlace()
      const lists = [1, 2, 3, 4, 5].map(() => api.listNamespacedConfigMap({ namespace }))
      expect((await Promise.all(lists)).map(({ items }) => items.length)).toEqual([0, 0, 0, 0, 0])
      await attachment.close()
      const { server } = stage.cluster.facts.access
      expect(user.plugin.execInfos).toMatchObject([{ apiVersion, spec: { cluster: { server } } }])
      expect(usersSeen(namespace)).toEqual([user.name])
    })

    it('does not run for each call of kubectl behind kubecred-token', async ({
      onTestFinished,
    }) => {
      const home = new AgentHome()
      onTestFinished(() => home.close())
      const user = newUser(name, home.path('home'))
      const { exec } = user
      const kubeconfig = stage.cluster.kubeconfig({
        user: {
          exec: {
            ...exec,
            command: TOKEN_PROGRAM,
            args: ['--', exec.command, ...(exec.args ?? [])],
          },
        },
      })
      const namespace = newPlace()
      const kubectl = (): Promise<Ended> => {
        const args = [
          '--kubeconfig',
          kubeconfig,
          'get',
          'configmaps',
          '-n',
          namespace,
          '-o',
          'name',
        ]
        const env = { ...home.env, ...user.env }
        const stdio = ['ignore', 'pipe', 'pipe'] as const
        return collect(
          spawn(stage.cluster.facts.programs.kubectl, args, { env, stdio: [...stdio] }),
        )
      }
      const first = await kubectl()
      const more = await Promise.all([kubectl(), kubectl(), kubectl()])
      const last = await kubectl()
      const ended = [first, ...more, last].map(({ status, err }) => ({ status, err }))
      expect(distinct(ended.map((one) => JSON.stringify(one)))).toEqual([
        JSON.stringify({ status: 0, err: '' }),
      ])
      expect(user.plugin.runs).toBe(RUNS_BEHIND_AGENT[name])
      expect(usersSeen(namespace)).toEqual([user.name])
    })
  })
}

describe.skipIf(AWS_NAMES.some(whySkipped)).concurrent('an AWS token', () => {
  it.each(AWS_NAMES)('that is refused is replaced by %s without a failed request', async (name) => {
    const user = newUser(name)
    stage.webhook.refuseNextOf(user.name)
    const cluster = await connectAs(user)
    const namespace = newPlace()
    expect(await ask(cluster, namespace)).toBe(200)
    await cluster.close()
    expect(user.plugin.runs).toBe(2)
    expect(seen(namespace).map(([, code]) => code)).toEqual([401, 200])
  })

  it('for another cluster is refused, which shows that the test server checks tokens', async () => {
    const user = newUser('aws-iam-authenticator')
    const cluster = await connectAs({
      ...user,
      exec: { ...user.exec, args: ['token', '-i', 'other'] },
    })
    expect(await ask(cluster, newPlace())).toBe(401)
    await cluster.close()
    expect(stage.webhook.acceptedOf(user.name)).toBe(0)
  })

  it.each(AWS_NAMES)('needs keys; without them the error quotes %s', async (name) => {
    const user = newUser(name)
    const exec = { ...user.exec, env: { AWS_PROFILE: 'none' } }
    const cluster = await connectAs({ ...user, exec })
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => ask(cluster, newPlace())))
    await cluster.close()
    const reason = { code: 'ERR_PLUGIN_EXITED', stderrTail: expect.stringContaining('profile') }
    const failed = { status: 'rejected', reason: expect.objectContaining(reason) }
    expect(outcomes).toEqual([failed, failed, failed])
    expect(user.plugin.runs).toBe(1)
  })
})

// Not concurrent: the clock is global.
describe.skipIf(AWS_NAMES.some(whySkipped))(
  'the expiry of an AWS token after fourteen minutes',
  () => {
    it.each(AWS_NAMES)('is read from the output of %s, which then runs again', async (name) => {
      const user = newUser(name)
      const cluster = await connectAs(user)
      const namespace = newPlace()
      expect(await ask(cluster, namespace)).toBe(200)
      const { expiresAt = 0 } = cluster.status().credential
      const leftMinutes = (expiresAt - Date.now()) / 60_000
      expect(leftMinutes).toBeGreaterThan(13)
      expect(leftMinutes).toBeLessThanOrEqual(14)
      // A token of another second differs.
      await until(() => Date.now() > expiresAt - 14 * 60_000 + 1000)
      vi.useFakeTimers({ toFake: ['Date'], now: expiresAt + 1 })
      try {
        expect(await ask(cluster, namespace)).toBe(200)
      } finally {
        vi.useRealTimers()
      }
      await cluster.close()
      expect(user.plugin.runs).toBeGreaterThanOrEqual(2)
      expect(stage.webhook.acceptedOf(user.name)).toBe(2)
      expect(usersSeen(namespace)).toEqual([user.name])
    })
  },
)

describe.skipIf(whySkipped('kubelogin') !== undefined)('a login with a browser', () => {
  it('happens once, and the 6 s tokens that follow are renewed without a failed request', async () => {
    const { issuer } = stage
    const before = { logins: issuer.logins, tokens: issuer.tokens }
    issuer.idTokenSeconds = 6
    const user = newUser('kubelogin')
    const cluster = await connectAs(user)
    const namespace = newPlace()
    const statuses = new Set<number>()
    await until(async () => {
      statuses.add(await ask(cluster, namespace))
      return issuer.tokens >= before.tokens + 3
    })
    statuses.add(await ask(cluster, namespace))
    issuer.idTokenSeconds = 3600
    await cluster.close()
    expect([...statuses]).toEqual([200])
    expect(issuer.logins).toBe(before.logins + 1)
    // kubelogin returns the old token until it expires, however early it is run.
    expect(user.plugin.runs).toBeLessThanOrEqual(3 * (issuer.tokens - before.tokens))
    expect(usersSeen(namespace)).toEqual([user.name])
  })

  it('is not repeated in a loop if the server refuses its tokens', async () => {
    const { issuer } = stage
    const before = issuer.logins
    const home = stage.cluster.folder('home')
    const program = programs.get('kubelogin') ?? ''
    const user = oidcUser({ stage, home, program }, STRANGER)
    const cluster = await connectAs(user)
    const statuses = new Set<number>()
    for (let asked = 0; asked < 20; asked += 1) statuses.add(await ask(cluster, newPlace()))
    await cluster.close()
    expect([...statuses]).toEqual([401])
    expect(issuer.logins).toBe(before + 1)
    expect(user.plugin.runs).toBeLessThanOrEqual(4)
  })
})
