import { readFileSync, writeFileSync } from 'node:fs'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type ConnectOptions, connect } from 'kubecred'
import { loginWithKubeconfig } from 'kubecred/logins'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

type User = NonNullable<NonNullable<Parameters<Sandbox['writeKubeconfig']>[0]>['user']>

const MASTER = { user: 'root', groups: ['system:masters'] }
const master = () => ({ token: sandbox.issueToken(MASTER).token })

/** Connects with one login, whose kubeconfig has the next of these users on every call. */
function connectAs(users: readonly User[], options: ConnectOptions = {}, cluster: object = {}) {
  const vault = new Vault({ freezeLimitMs: 5000 })
  let logins = 0
  vault.onLogin(
    (context) => {
      const user = users[Math.min(logins, users.length - 1)] ?? {}
      logins += 1
      const kubeconfig = sandbox.writeKubeconfig({ user })
      const content = JSON.parse(readFileSync(kubeconfig, 'utf8'))
      Object.assign(content.clusters[0].cluster, cluster)
      writeFileSync(kubeconfig, JSON.stringify(content))
      return loginWithKubeconfig(context, { kubeconfig })
    },
    { id: 'it' },
  )
  return connect({ vault, ...options })
}

const users = () => sandbox.requests.map(({ tokenUser, user }) => `${tokenUser} is ${user}`)

describe('the impersonation of a login', () => {
  it('changes together with its credential', async () => {
    const [first, second] = ['first', 'second'].map((user) => ({
      token: sandbox.issueToken({ ...MASTER, user }).token,
      impersonate: `guest of ${user}`,
    }))
    if (first === undefined || second === undefined) throw new Error('there are two')
    await using cluster = await connectAs([first, second])
    await cluster.fetch('/version')
    sandbox.revoke('first')
    const paths = Array.from({ length: 20 }, (_, index) => `/api/v1/namespaces?${index}`)
    const answers = await Promise.all(paths.map((path) => cluster.fetch(path)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(users())).toEqual(
      new Set(['first is guest of first', 'first is undefined', 'second is guest of second']),
    )
  })

  it('applies only to its credential, not to one of the caller', async () => {
    await using cluster = await connectAs([{ ...master(), impersonate: 'less' }])
    const { token } = sandbox.issueToken({ user: 'ann' })
    await cluster.fetch('/version', { headers: { authorization: `Bearer ${token}` } })
    await cluster.fetch('/version')
    expect(users()).toEqual(['ann is ann', 'root is less'])
  })

  it('is in the status of the login', async () => {
    await using cluster = await connectAs([{ ...master(), impersonate: 'less' }])
    expect(cluster.status()).toMatchObject({ credential: { logins: [{ as: 'less' }] } })
  })
})

describe('the impersonation in the options of connect()', () => {
  it('applies to all logins, in place of their own', async () => {
    const login = { ...master(), impersonate: 'less', impersonateGroups: ['few'] }
    await using cluster = await connectAs([login], { as: 'least', asGroups: ['fewer'] })
    expect(cluster.status()).toMatchObject({ as: 'least' })
    expect(await cluster.headers()).toMatchObject({
      'impersonate-user': 'least',
      'impersonate-group': ['fewer'],
    })
    await cluster.fetch('/version')
    expect(users()).toEqual(['root is least'])
  })

  it('needs a user: groups alone are an error before any login', async () => {
    const connecting = connectAs([master()], { asGroups: ['few'] })
    await expect(connecting).rejects.toMatchObject({ code: 'ERR_KUBECONFIG_INVALID' })
  })
})

describe('the exposed values of a login that impersonates a user', () => {
  it('have the impersonation in the headers', async () => {
    const login = { ...master(), impersonate: 'less', impersonateGroups: ['a', 'b'] }
    await using cluster = await connectAs([login])
    expect(await cluster.headers()).toEqual({
      authorization: expect.stringMatching(/^Bearer /) as unknown,
      'impersonate-user': 'less',
      'impersonate-group': ['a', 'b'],
    })
    expect(await cluster.tlsOptions()).not.toHaveProperty('key')
  })

  it('are not returned if a certificate without the headers would have more rights', async () => {
    const login = { ...(await sandbox.issueCertificate(MASTER)), impersonate: 'less' }
    await using cluster = await connectAs([login])
    await expect(cluster.headers()).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' })
    await expect(cluster.tlsOptions()).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' })
    expect((await cluster.fetch('/version')).status).toBe(200)
    expect(sandbox.requests).toMatchObject([{ certificateUser: 'root', user: 'less' }])
  })
})

describe('compression', () => {
  async function encodings(options: ConnectOptions, cluster: object): Promise<unknown[]> {
    const seen: unknown[] = []
    sandbox.respondWith(({ headers }) => {
      seen.push(headers['accept-encoding'])
      return undefined
    })
    await using connected = await connectAs([master()], options, cluster)
    await connected.fetch('/version')
    await connected.fetch('/version', { headers: { accept: 'application/json' } })
    await connected.fetch('/version', { headers: { 'accept-encoding': 'gzip' } })
    return seen
  }

  it('is requested unless the cluster of the login disables it', async () => {
    expect(await encodings({}, {})).toEqual(['gzip', 'gzip', 'gzip'])
    const off = { 'disable-compression': true }
    // The caller's own header is not changed.
    expect(await encodings({}, off)).toEqual([undefined, undefined, 'gzip'])
  })

  it('is not requested if the options of connect() disable it', async () => {
    const seen = await encodings({ disableCompression: true }, {})
    expect(seen).toEqual([undefined, undefined, 'gzip'])
  })
})
