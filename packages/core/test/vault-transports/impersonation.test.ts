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

/** A cluster whose only login is what a kubeconfig says of this user; asked again, it says the next one. */
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

describe('whom a login acts as', () => {
  it('changes with its credential, never before or after it', async () => {
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

  it('counts only with its credential, not with one that the caller brings', async () => {
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

describe('whom the options of connect() name', () => {
  it('is whom all logins act as, and in place of whom they name', async () => {
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

  it('must be somebody: groups alone are an error before anybody logs in', async () => {
    const connecting = connectAs([master()], { asGroups: ['few'] })
    await expect(connecting).rejects.toMatchObject({ code: 'ERR_KUBECONFIG_INVALID' })
  })
})

describe('the plain values of a login that acts as somebody', () => {
  it('say so in the headers', async () => {
    const login = { ...master(), impersonate: 'less', impersonateGroups: ['a', 'b'] }
    await using cluster = await connectAs([login])
    expect(await cluster.headers()).toEqual({
      authorization: expect.stringMatching(/^Bearer /) as unknown,
      'impersonate-user': 'less',
      'impersonate-group': ['a', 'b'],
    })
    expect(await cluster.tlsOptions()).not.toHaveProperty('key')
  })

  it('are not handed out where a certificate without the headers would have more rights', async () => {
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

  it('is asked for unless the cluster of the login says not to', async () => {
    expect(await encodings({}, {})).toEqual(['gzip', 'gzip', 'gzip'])
    const off = { 'disable-compression': true }
    // What the caller asks for, the caller gets.
    expect(await encodings({}, off)).toEqual([undefined, undefined, 'gzip'])
  })

  it('is not asked for where the options of connect() say so', async () => {
    const seen = await encodings({ disableCompression: true }, {})
    expect(seen).toEqual([undefined, undefined, 'gzip'])
  })
})
