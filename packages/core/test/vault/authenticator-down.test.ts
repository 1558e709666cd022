import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { VaultAccess } from '../../src/vault/vault-access.ts'
import { exactTime } from './exact-time.ts'
import { openScene } from './vault-scene.ts'

const server = 'https://one.test'
const refusal = { status: 401, headers: {} }
const DOWN_MS = 60_000
const PER_SECOND = 5

/** A server whose authenticator can be down: then it refuses every credential. */
class Server {
  isUp = true
  requests = 0

  /** Sends a request as a transport does: refused, it goes on with what the vault has next. */
  async send(vault: VaultAccess): Promise<void> {
    let lease = await vault.lease()
    for (;;) {
      this.requests += 1
      if (this.isUp) {
        vault.accept(lease)
        return
      }
      const better = await vault.replace(lease, refusal)
      if (better === undefined) throw new Error('a vault always has an answer')
      lease = better
    }
  }
}

/** Sends requests for three minutes, of which the authenticator is down for the first. */
async function playOutage(nextToken: (login: number) => string) {
  let logins = 0
  const { vault, clock } = openScene(
    {
      corp: () => {
        logins += 1
        return { server, token: nextToken(logins) }
      },
    },
    { queueLimit: 10_000 },
  )
  const { pass } = exactTime(clock)
  const api = new Server()
  await api.send(vault)
  const startedAt = clock.now()
  api.isUp = false
  api.requests = 0
  logins = 0
  const ends: { readonly beganMs: number; readonly code: string; readonly tookMs: number }[] = []
  const all: Promise<void>[] = []
  const ask = async (): Promise<void> => {
    const began = clock.now()
    const code = await api.send(vault).then(
      () => 'served',
      (error: { code: string }) => error.code,
    )
    ends.push({ beganMs: began - startedAt, code, tookMs: clock.now() - began })
  }
  let downtime = { requests: 0, logins: 0 }
  for (let second = 0; second < 180; second += 1) {
    if (second * 1000 === DOWN_MS) {
      downtime = { requests: api.requests, logins }
      api.isUp = true
    }
    for (let count = 0; count < PER_SECOND; count += 1) all.push(ask())
    await pass(1000)
  }
  await Promise.all(all)
  await vault.close()
  return { ends, downtime, logins, asked: all.length }
}

describe('while an authenticator is down for a minute', () => {
  it('an unchanged credential is tried a few times, and all requests succeed when it is back', async () => {
    const { ends, downtime, logins, asked } = await playOutage(() => 'same')
    expect(ends).toHaveLength(asked)
    // Those of the first moment, and one try after 30 s.
    expect(downtime.requests).toBeLessThanOrEqual(PER_SECOND + 1)
    expect(downtime.logins).toBeLessThanOrEqual(8)
    expect(logins).toBeLessThanOrEqual(12)
    const late = ends.filter(({ beganMs }) => beganMs >= 31_000)
    expect(new Set(late.map(({ code }) => code))).toEqual(new Set(['served']))
    for (const { code, tookMs } of ends) {
      if (code === 'served') continue
      expect(code).toBe('ERR_LOGIN_FAILED')
      // The limit is that of one wait: the request that tried the credential in between waited twice.
      expect([60_000, 90_000]).toContain(tookMs)
    }
    // After 30 s and another 60 s it is tried, and serves without a pause from then on.
    const afterwards = ends.filter(({ beganMs }) => beganMs > 91_000)
    expect(new Set(afterwards.map(({ tookMs }) => tookMs))).toEqual(new Set([0]))
  })

  it('logins become less frequent, and the first one after the outage serves all waiting requests', async () => {
    const { ends, downtime, logins, asked } = await playOutage((login) => `token-${login}`)
    expect(ends).toHaveLength(asked)
    // At 0, 1, 3, 7, 15, 31 and 63 s.
    expect(downtime.logins).toBeLessThanOrEqual(6)
    expect(logins).toBeLessThanOrEqual(8)
    // No request is sent more often than there are credentials.
    expect(downtime.requests).toBeLessThanOrEqual(((DOWN_MS / 1000) * PER_SECOND + 1) * 7)
    const waiting = ends.filter(({ beganMs }) => beganMs > 5000)
    expect(new Set(waiting.map(({ code }) => code))).toEqual(new Set(['served']))
  })
})

describe('a real server that refuses every credential for a while', () => {
  let sandbox: Sandbox
  beforeEach(async () => {
    // Only the wall clock is held: timers and sockets stay real.
    vi.useFakeTimers({ toFake: ['Date'] })
    sandbox = await startSandbox()
  })
  afterEach(async () => {
    vi.useRealTimers()
    await sandbox.close()
  })

  const passTime = (seconds: number): void => {
    vi.setSystemTime(Date.now() + seconds * 1000)
  }

  it('is avoided, tried by one request at a time, and used again without a restart', async () => {
    const { token } = sandbox.issueToken({ user: 'static' })
    let logins = 0
    const vault = new Vault({ freezeLimitMs: 300 }).onLogin(
      () => {
        logins += 1
        return { server: sandbox.url, caData: sandbox.caPem, token }
      },
      { id: 'static' },
    )
    await using cluster = await connect({ vault })
    const fetch = async (): Promise<string> => {
      const response = await cluster.fetch('/api/v1/namespaces')
      await response.arrayBuffer()
      return String(response.status)
    }
    const storm = async (count: number): Promise<{ ends: Set<string>; sent: number }> => {
      const before = sandbox.requests.length
      const one = (): Promise<string> => fetch().catch((error: { code: string }) => error.code)
      const ends = await Promise.all(Array.from({ length: count }, one))
      return { ends: new Set(ends), sent: sandbox.requests.length - before }
    }
    expect(await fetch()).toBe('200')
    sandbox.respondWith(() => ({ status: 401, body: {} }))
    // Requests in flight together are refused together, once each.
    const first = await storm(50)
    expect(first.ends).toEqual(new Set(['ERR_LOGIN_FAILED']))
    expect(first.sent).toBeLessThanOrEqual(50)
    expect(await storm(50)).toEqual({ ends: new Set(['ERR_LOGIN_FAILED']), sent: 0 })
    // However many were refused at once, that was one refusal: 30 s.
    passTime(31)
    expect(await storm(20)).toEqual({ ends: new Set(['ERR_LOGIN_FAILED']), sent: 1 })
    // And this the second: a minute.
    passTime(31)
    expect((await storm(20)).sent).toBe(0)
    sandbox.respondWith(undefined)
    passTime(31)
    expect(await fetch()).toBe('200')
    expect(await storm(20)).toEqual({ ends: new Set(['200']), sent: 20 })
    expect(logins).toBeLessThanOrEqual(8)
  })
})
