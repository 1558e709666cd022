import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import { startSandbox } from '@kubecred/sandbox'
import { type CredentialEvent, connect } from 'kubecred'
import type { Metrics } from 'kubecred/metrics'
import {
  ConnectionInfo,
  type LoginLogger,
  PermanentError,
  TemporaryError,
  Vault,
} from 'kubecred/vault'
import type { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { makeMetrics } from '../metrics/scene.ts'

const SECRETS = {
  token: 'Zq8Xw2Vb7NcR5tYu',
  password: 'Jk4Hs9Dm3QaZ6wSx',
  scheme: 'Ty6Ru1Ep5VbG8nHm',
  proxy: 'Lm2Cv8Bx4PoI7uYt',
} as const
/** Other people's errors carry the whole request. */
const ATTACHED = 'Wd7Fg3Hj9KlM1nBv'

/** Everything that can be seen of a vault, whatever becomes of its logins. */
class Seen {
  readonly events: CredentialEvent[] = []
  readonly metrics: Metrics<Registry>
  readonly observer = (event: CredentialEvent): void => {
    this.events.push(event)
    this.metrics.observer(event)
  }
  readonly published: unknown[] = []
  readonly #note = (message: unknown): void => {
    this.published.push(message)
  }
  readonly others: unknown[] = []

  private constructor(metrics: Metrics<Registry>) {
    this.metrics = metrics
    subscribe('kubecred:event', this.#note)
  }

  static async start(): Promise<Seen> {
    return new Seen(await makeMetrics())
  }

  async check(secrets: readonly string[]): Promise<void> {
    unsubscribe('kubecred:event', this.#note)
    expect(this.published.length).toBeGreaterThanOrEqual(this.events.length)
    const { register } = this.metrics
    const numbers = [await register.getMetricsAsJSON(), await register.metrics()]
    const shown = [this.events, ...numbers, ...this.others]
    expectNoLeak([...shown, ...this.events, ...this.published], secrets)
    const text = this.others.map((each) => `${String(each)}${inspect(each)}`).join('')
    for (const secret of secrets) expect(text).not.toContain(secret)
  }
}

/** An error as an HTTP client makes it. */
function clientError(text: string): Error {
  return Object.assign(new Error(text), {
    config: { headers: { 'x-api-key': ATTACHED } },
    request: { body: ATTACHED },
    cause: new Error(`because of ${ATTACHED}`),
  })
}

async function keyPem(): Promise<{ certificate: string; key: string }> {
  await using sandbox = await startSandbox()
  return sandbox.issueCertificate({ user: 'canary' })
}

describe('no secret is seen', () => {
  it('in anything about logins that have one in every field and are refused and reported', async () => {
    await using sandbox = await startSandbox()
    const pair = await keyPem()
    const secrets = [
      ...Object.values(SECRETS),
      ATTACHED,
      ...pair.key.split('\n').filter((line) => line.length > 20 && !line.includes('-----')),
    ]
    const seen = await Seen.start()
    const vault = new Vault({ freezeLimitMs: 400 })
    const at = { server: sandbox.url, caData: sandbox.caPem }
    /** Speaks of everything it gave, as a careless handler would. */
    const speak = (logger: LoginLogger, proxy: string): string => {
      const { token, password, scheme } = SECRETS
      const text = `I gave ${token} and ${password}, ${scheme}, ${proxy}, ${pair.key}`
      for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level](text)
      return text
    }
    let asked = 0
    const returnsOnce = (info: ConstructorParameters<typeof ConnectionInfo>[0]) => {
      let logins = 0
      return ({ logger }: { logger: LoginLogger }) => {
        asked += 1
        logins += 1
        if (logins > 1) throw clientError(speak(logger, 'proxyUrl' in info ? SECRETS.proxy : ''))
        return new ConnectionInfo(info)
      }
    }
    const all = {
      ...at,
      ...SECRETS_OF_FIELDS,
      certificateData: pair.certificate,
      privateKeyData: pair.key,
    }
    vault.onLogin(returnsOnce({ ...all, priority: 3 }), { id: 'all', attempts: 2, backoffMs: 1 })
    const proxyUrl = `http://jane:${SECRETS.proxy}@127.0.0.1:9`
    vault.onLogin(returnsOnce({ ...all, proxyUrl }), { id: 'proxied', attempts: 2, backoffMs: 1 })
    seen.others.push(new ConnectionInfo(all), [new ConnectionInfo(all)])
    // An invalid field is reported without its value.
    vault.onLogin(
      () => ({ ...at, token: `${SECRETS.token}\n`, scheme: 5 as never, proxyUrl: '' }),
      {
        id: 'wrong',
      },
    )
    vault.onLogin(() => ({ ...at, token: SECRETS.token, insecure: SECRETS.password as never }), {
      id: 'type',
    })
    vault.onLogin(() => ({ ...at, server: `https://jane:${SECRETS.password}@127.0.0.1` }), {
      id: 'address',
    })
    const cluster = await connect({ vault, observer: seen.observer })
    for (let request = 0; request < 2; request += 1) {
      const failure = await cluster.fetch('/api/v1/namespaces').catch((error: unknown) => error)
      seen.others.push(failure, cluster, cluster.status(), vault, vault.status())
    }
    await cluster.close()
    // Both had what they gave refused or could not send it, and the first one spoke of it.
    expect(asked).toBeGreaterThan(2)
    expect(seen.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['logged-in', 'refused', 'log', 'login-retried', 'run-failed']),
    )
    await seen.check(secrets)
  })

  it('in what a handler throws or logs about an earlier credential', async () => {
    await using sandbox = await startSandbox()
    const seen = await Seen.start()
    const vault = new Vault({ freezeLimitMs: 400 })
    let logins = 0
    const given = [SECRETS.token]
    const throwers = [TemporaryError, PermanentError, Error]
    vault.onLogin(
      ({ logger, attempt }) => {
        logins += 1
        const token = given[logins - 1]
        if (token !== undefined) return { server: sandbox.url, caData: sandbox.caPem, token }
        logger.info(`refused: ${given.join(', ')}`)
        logger.error(`refused: ${given.join(', ')}`)
        const Thrower = throwers[attempt % 3] ?? Error
        throw new Thrower(`the issuer rejects ${given.join(' or ')}`, { cause: clientError('x') })
      },
      { id: 'careless', backoffMs: 1, attempts: 3 },
    )
    const cluster = await connect({ vault, observer: seen.observer })
    await cluster.fetch('/api/v1/namespaces').catch((error: unknown) => seen.others.push(error))
    seen.others.push(cluster.status(), vault.status())
    await cluster.close()
    expect(seen.others[0]).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    expect(String(seen.others[0])).toContain('the issuer rejects [secret]')
    const logs = seen.events.filter(({ type }) => type === 'log')
    expect(logs[0]).toMatchObject({ message: 'refused: [secret]' })
    await seen.check([...given, ATTACHED])
  })

  it('in a cause: a harmless error is kept, any other is replaced by a copy without its properties', async () => {
    const { printableCause } = await import('../../src/vault/log-in.ts')
    const plain = new PermanentError('the door is locked', { cause: new Error('rusty') })
    expect(printableCause(plain, [])).toBe(plain)
    const copy = printableCause(clientError('no'), [])
    expect(copy).toBeInstanceOf(Error)
    expect(copy).toMatchObject({ message: 'no', stack: expect.stringContaining('clientError') })
    expectNoLeak([copy], [ATTACHED])
    expect(printableCause({ secret: ATTACHED }, [])).toBeUndefined()
    const hostile = new Proxy(new Error('x'), {
      get() {
        throw new Error(ATTACHED)
      },
    })
    expect(printableCause(hostile, [])).toBeUndefined()
    const ring = new Error('ring')
    ring.cause = ring
    expectNoLeak([printableCause(ring, [])], [ATTACHED])
  })
})

const SECRETS_OF_FIELDS = {
  token: SECRETS.token,
  username: 'jane',
  password: SECRETS.password,
  scheme: SECRETS.scheme,
  tlsServerName: 'localhost',
}
