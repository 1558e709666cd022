import type { Sandbox } from '@kubecred/sandbox'
import { AuthenticationV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { attach } from 'kubecred/client-node'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { codesOf } from '../transports/codes-of.ts'
import { distinct } from '../transports/scene.ts'
import { until } from '../transports/until.ts'
import { infoOf, startTwoServers, type TwoServers } from './two-servers.ts'

let servers: TwoServers
let one: Sandbox
let two: Sandbox
beforeEach(async () => {
  servers = await startTwoServers()
  ;({ one, two } = servers)
})
afterEach(() => servers[Symbol.asyncDispose]())

/** Two contexts whose users have no usable credential. */
function twoContexts(): KubeConfig {
  const kc = new KubeConfig()
  kc.loadFromOptions({
    clusters: [
      { name: 'one', server: one.url },
      { name: 'two', server: two.url },
    ],
    users: [{ name: 'no-such-user', exec: { command: '/nowhere/plugin' } }],
    contexts: [
      { name: 'one', cluster: 'one', user: 'no-such-user' },
      { name: 'two', cluster: 'two', user: 'no-such-user' },
    ],
    currentContext: 'one',
  })
  return kc
}

it("attach() uses the vault's logins of each context, and never those of another", async () => {
  const vault = new Vault()
  vault.onLogin(() => infoOf(one, 'ann'), { id: 'one' })
  vault.onLogin(() => infoOf(two, 'bob'), { id: 'two' })
  const kc = twoContexts()
  await using attachment = attach(kc, { vault })
  const apis = ['one', 'two'].map((name) => {
    kc.setCurrentContext(name)
    return kc.makeApiClient(CoreV1Api)
  })
  for (const api of [...apis, ...apis]) await api.listNamespace()
  expect(new Set(one.requests.map(({ user }) => user))).toEqual(new Set(['ann']))
  expect(new Set(two.requests.map(({ user }) => user))).toEqual(new Set(['bob']))
  expect(attachment.status()).toMatchObject({ by: 'kubecred' })
})

/** A user that may impersonate others. */
const masterOf = (sandbox: Sandbox) => ({
  server: sandbox.url,
  caData: sandbox.caPem,
  token: sandbox.issueToken({ user: 'root', groups: ['system:masters'] }).token,
})

it('attach() impersonates as the user of each context says, whichever login it has', async () => {
  const vault = new Vault()
  vault.onLogin(() => masterOf(one), { id: 'one' })
  vault.onLogin(() => masterOf(two), { id: 'two' })
  const kc = twoContexts()
  kc.users = [
    { name: 'no-such-user', impersonateUser: 'guest' },
    { name: 'other', impersonateUser: 'visitor' },
  ]
  kc.contexts = [
    { name: 'one', cluster: 'one', user: 'no-such-user' },
    { name: 'two', cluster: 'two', user: 'other' },
  ]
  await using attachment = attach(kc, { vault })
  for (const name of ['one', 'two', 'one']) {
    kc.setCurrentContext(name)
    await kc.makeApiClient(CoreV1Api).listNamespace()
  }
  expect(attachment.status().current).toMatchObject({ as: 'guest' })
  expect(distinct(one.requests.map(({ user }) => user))).toEqual(['guest'])
  expect(distinct(two.requests.map(({ user }) => user))).toEqual(['visitor'])
})

it('attach() impersonates with the groups that only the file of the KubeConfig has', async () => {
  const kubeconfig = one.writeKubeconfig({
    user: { token: 'not-used', impersonate: 'guest', impersonateGroups: ['readers'] },
  })
  const vault = new Vault()
  vault.onLogin(() => masterOf(one), { id: 'one' })
  const kc = new KubeConfig()
  kc.loadFromFile(kubeconfig)
  await using _ = attach(kc, { vault, kubeconfig })
  const review = await kc.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  })
  expect(review.status?.userInfo).toMatchObject({
    username: 'guest',
    groups: expect.arrayContaining(['readers']) as unknown,
  })
})

it('attachment.close() rejects requests that wait for the first login, and aborts the login', async () => {
  let asked: AbortSignal | undefined
  const vault = new Vault()
  vault.onLogin(
    ({ signal }) => {
      asked = signal
      return new Promise(() => {})
    },
    { id: 'slow' },
  )
  const kc = twoContexts()
  const attachment = attach(kc, { vault })
  const sent = kc
    .makeApiClient(CoreV1Api)
    .listNamespace()
    .then(() => [], codesOf)
  await until(() => asked !== undefined)
  await attachment.close()
  expect(await sent).toContain('ERR_CLOSED')
  expect(asked?.aborted).toBe(true)
  expect(vault.status()).toBeUndefined()
})
