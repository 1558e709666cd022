// What went wrong in kopf's vault (facts that were observed there), and must not here: with a real server.
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, type CredentialEvent, connect } from 'kubecred'
import { type LoginContext, PermanentError, Vault, type VaultOptions } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

const PATH = '/api/v1/namespaces'
const statusOf = async (cluster: Cluster): Promise<number> => (await cluster.fetch(PATH)).status

/** A login service with configurable answers that remembers its callers. */
class LoginService {
  readonly asked: LoginContext[] = []
  readonly events: CredentialEvent[] = []
  readonly vault: Vault
  answer: 'fresh' | 'same' | 'nothing' | 'broken' | 'text' = 'fresh'
  #last = ''

  constructor(options: VaultOptions) {
    this.vault = new Vault(options).onLogin((context) => this.#logIn(context), { id: 'corp' })
  }

  connect(): Promise<Cluster> {
    return connect({ vault: this.vault, observer: (event) => this.events.push(event) })
  }

  #logIn(context: LoginContext) {
    this.asked.push(context)
    if (this.answer === 'nothing') return undefined
    if (this.answer === 'broken') throw new PermanentError('the door is locked')
    if (this.answer === 'text') return 'a token' as never
    if (this.answer === 'fresh') this.#last = sandbox.issueToken({ user: 'jane' }).token
    return { server: sandbox.url, caData: sandbox.caPem, token: this.#last }
  }
}

describe('4.1: a failed login does not leave requests hanging', () => {
  it.each([
    ['broken', /corp failed: the door is locked/],
    ['text', /corp failed: a login handler must return a ConnectionInfo or nothing/],
    ['nothing', /corp returned nothing/],
  ] as const)(
    '4.1: connect() fails in time if the handler’s result is %s',
    async (answer, says) => {
      const service = new LoginService({ freezeLimitMs: 200 })
      service.answer = answer
      await expect(service.connect()).rejects.toMatchObject({
        code: 'ERR_LOGIN_FAILED',
        message: expect.stringMatching(says),
      })
    },
  )

  it.each(['broken', 'text', 'nothing'] as const)(
    '4.1: requests fail in time if the result of the next login is %s, and the next usable one is used',
    async (answer) => {
      const service = new LoginService({ freezeLimitMs: 200 })
      await using cluster = await service.connect()
      service.answer = answer
      sandbox.revoke('jane')
      const ends = await Promise.allSettled(Array.from({ length: 5 }, () => statusOf(cluster)))
      expect(ends.map((end) => end.status === 'rejected' && end.reason.code)).toEqual(
        Array(5).fill('ERR_LOGIN_FAILED'),
      )
      service.answer = 'fresh'
      await expect
        .poll(() => statusOf(cluster).catch(() => 'not yet'), { timeout: 10_000 })
        .toBe(200)
    },
  )
})

describe('5.5: depletion does not stick', () => {
  it('5.5: a refused credential is not sent again soon, and requests recover with a new one', async () => {
    const service = new LoginService({ freezeLimitMs: 300 })
    await using cluster = await service.connect()
    expect(await statusOf(cluster)).toBe(200)
    service.answer = 'same'
    sandbox.revoke('jane')
    for (let request = 0; request < 3; request += 1) {
      await expect(statusOf(cluster)).rejects.toMatchObject({
        code: 'ERR_LOGIN_FAILED',
        outcomes: [{ handler: 'corp', result: 'refused' }],
      })
    }
    expect(sandbox.requests.map(({ status }) => status)).toEqual([200, 401])
    service.answer = 'fresh'
    await expect.poll(() => statusOf(cluster).catch(() => 'not yet'), { timeout: 10_000 }).toBe(200)
  })
})

describe('6.5: a missing credential is always reported', () => {
  it('6.5: a restarted watch gets the error, the status shows it, and it recovers by itself', async () => {
    const service = new LoginService({ freezeLimitMs: 300 })
    await using cluster = await service.connect()
    const leaving = new AbortController()
    const ends: unknown[] = []
    let watches = 0
    /** As an operator does it: watch, and when that ends for whatever reason, watch again. */
    const watching = (async () => {
      while (!leaving.signal.aborted) {
        try {
          const { signal } = leaving
          const watch = await cluster.fetch(`${PATH}?watch=true`, { signal })
          watches += 1
          await watch.text()
        } catch (error) {
          ends.push((error as { code?: string }).code)
        }
      }
    })()
    await expect.poll(() => watches).toBe(1)
    service.answer = 'nothing'
    sandbox.revoke('jane')
    sandbox.dropConnections()
    await expect.poll(() => ends).toContain('ERR_LOGIN_FAILED')
    // What a liveness probe can look at, and what an alert can count.
    expect(cluster.status().credential.state).not.toBe('ready')
    expect(service.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['depleted', 'frozen', 'failed']),
    )
    service.answer = 'fresh'
    await expect.poll(() => watches, { timeout: 10_000 }).toBe(2)
    expect(cluster.status().credential.state).toBe('ready')
    expect(service.events.map(({ type }) => type)).toContain('thawed')
    leaving.abort()
    await watching
  })
})
