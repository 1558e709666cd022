import { describe, expect, it } from 'vitest'
import { ClosedError, LoginError } from '../../src/errors/index.ts'
import { Secret } from '../../src/secret/secret.ts'
import type { AcquireContext, Report } from '../../src/sources/source.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import type { LoginHandler } from '../../src/vault/login-handler.ts'
import { type LoginListener, LoginSource, type OpenedLogin } from '../../src/vault/login-source.ts'
import { settle } from './vault-scene.ts'

const handler = () => ({ server: 'https://one.test', token: 'Zq8Xw2Vb7NcR5tYu' })

const tokenOf = (token: string) => ({ token: new Secret(token) })

/** A login that opens something of the test's. */
function open(acquire: OpenedLogin['acquire']) {
  const life = new AbortController()
  let released = 0
  let listener: LoginListener | undefined
  let changes = 0
  const source = new LoginSource(
    { id: 'one', handler, options: {} },
    {
      clock: new FakeClock(0),
      log: 'all',
      isDepleted: () => true,
      report() {},
      observe: () => () => {},
      onRetry() {},
      onLogin() {},
      open: async (_, given) => {
        listener = given
        return {
          acquire,
          release: async () => {
            released += 1
          },
        }
      },
    },
  )
  source.watch(() => {
    changes += 1
  })
  const ask = () =>
    source
      .acquire({ reason: 'first', signal: life.signal, report() {} })
      .catch((error: unknown) => error)
  return {
    asked: ask(),
    ask,
    life,
    released: () => released,
    changes: () => changes,
    change: (token?: string) => listener?.onChange(token === undefined ? token : tokenOf(token)),
  }
}

describe('what a login opened', () => {
  it('is released if the vault was closed before it opened', async () => {
    let answer: (() => void) | undefined
    const { asked, life, released } = open(
      () => new Promise((resolve) => (answer = () => resolve({ credential: {}, expiresAt: 1 }))),
    )
    await settle()
    const closed = new Error('closed')
    life.abort(closed)
    answer?.()
    expect(await asked).toBe(closed)
    expect(released()).toBe(1)
  })

  it('is released if it fails, and its error becomes an error of the login', async () => {
    const { asked, released } = open(() => {
      throw new TypeError('no bytes in Zq8Xw2Vb7NcR5tYu')
    })
    const error = await asked
    expect(error).toBeInstanceOf(LoginError)
    expect(error).toMatchObject({
      outcomes: [{ handler: 'one', result: 'failed', reason: 'no bytes in [secret]' }],
      cause: { message: 'no bytes in [secret]' },
    })
    expect(released()).toBe(1)
  })

  it('is kept while it is used', async () => {
    const { asked, released } = open(async () => ({ credential: {}, expiresAt: 1 }))
    expect(await asked).toMatchObject({ expiresAt: 1 })
    expect(released()).toBe(0)
  })
})

describe('a change in an opened login', () => {
  it('counts if the credential differs, or anything else changed', async () => {
    const credential = tokenOf('A')
    const { asked, changes, change } = open(async () => ({ credential, expiresAt: 1 }))
    await asked
    change('A')
    expect(changes()).toBe(0)
    change('B')
    expect(changes()).toBe(1)
    change()
    expect(changes()).toBe(2)
  })

  it('counts during a run only if the run returns another credential', async () => {
    let answer: ((token: string) => void) | undefined
    const { asked, ask, changes, change } = open(
      () =>
        new Promise((resolve) => {
          answer = (token) => resolve({ credential: tokenOf(token), expiresAt: 1 })
        }),
    )
    await settle()
    change('A')
    answer?.('A')
    await asked
    expect(changes()).toBe(0)
    const again = ask()
    await settle()
    change('C')
    answer?.('B')
    await again
    expect(changes()).toBe(1)
  })
})

describe('a login as a source', () => {
  interface Given {
    readonly log?: 'all' | 'first' | 'none'
    readonly handler?: LoginHandler
    readonly acquire?: OpenedLogin['acquire']
    readonly isDepleted?: boolean
  }

  function source({
    log = 'all',
    handler: own = handler,
    acquire,
    isDepleted = false,
  }: Given = {}) {
    const events: Report[] = []
    const logins: object[] = []
    const released: number[] = []
    let opened = 0
    const login = new LoginSource(
      { id: 'one', handler: own, options: { attempts: 1 } },
      {
        clock: new FakeClock(1000),
        log,
        isDepleted: () => isDepleted,
        report() {},
        observe: () => () => {},
        onRetry() {},
        onLogin: (facts) => logins.push(facts),
        open: async ({ connection: { user } }) => {
          opened += 1
          const number = opened
          const credential = { ...(user.token && { token: user.token }) }
          return {
            acquire: acquire ?? (async () => ({ credential, expiresAt: 5000 })),
            release: async () => void released.push(number),
          }
        },
      },
    )
    const ask = (more: Partial<AcquireContext> = {}) =>
      login.acquire({
        reason: 'first',
        refusal: undefined,
        signal: new AbortController().signal,
        report: (event) => events.push(event),
        ...more,
      } as AcquireContext)
    return { login, ask, events, logins, released }
  }

  const say: LoginHandler = ({ logger }) => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level](`a ${level}`)
    return handler()
  }

  it.each([
    ['all', 'first', ['debug', 'info', 'warn', 'error', 'logged-in']],
    ['all', 'ahead', ['debug', 'info', 'warn', 'error', 'logged-in']],
    ['first', 'first', ['debug', 'info', 'warn', 'error', 'logged-in']],
    ['first', 'ahead', ['warn', 'error']],
    ['none', 'first', ['warn', 'error']],
  ] as const)('with log %s, %s reports its lines: %j', async (log, reason, expected) => {
    const { ask, events, logins } = source({ log, handler: say })
    await ask({ reason })
    expect(events.map((event) => (event.type === 'log' ? event.level : event.type))).toEqual(
      expected,
    )
    expect(events[0]).toMatchObject({ type: 'log', message: `a ${expected[0]}`, reason })
    // The vault gets the login in any case.
    expect(logins).toHaveLength(1)
  })

  it('writes no secret of its logins into its lines', async () => {
    let logins = 0
    const { ask, events } = source({
      handler: ({ logger }) => {
        logins += 1
        logger.warn('I had Zq8Xw2Vb7NcR5tYu')
        return handler()
      },
    })
    await ask()
    await ask()
    const lines = events.flatMap((event) => (event.type === 'log' ? event.message : []))
    expect(lines).toEqual(['I had Zq8Xw2Vb7NcR5tYu', 'I had [secret]'])
    expect(logins).toBe(2)
  })

  it('says what it was: reason, server, time, parts and expiry', async () => {
    const { ask, events, logins } = source()
    expect(await ask()).toMatchObject({ expiresAt: 5000 })
    const facts = {
      reason: 'first',
      server: 'https://one.test',
      attempts: 1,
      tookMs: 0,
      expiresAt: 5000,
      parts: ['token'],
      priority: 0,
    }
    expect(logins).toStrictEqual([facts])
    expect(events).toStrictEqual([{ type: 'logged-in', ...facts }])
  })

  it('is a login of a depleted vault, except the first', async () => {
    const { ask, logins } = source({ isDepleted: true })
    await ask({ reason: 'expired' })
    await ask()
    expect(logins).toMatchObject([{ reason: 'depleted' }, { reason: 'first' }])
  })

  it('tells its handler about a refusal, and only then', async () => {
    const seen: unknown[] = []
    const { ask } = source({
      handler: ({ refused }) => {
        seen.push(refused)
        return handler()
      },
    })
    const refusal = { status: 401, headers: {} }
    await ask()
    await ask({ reason: 'refused', refusal })
    await ask({ reason: 'refused' })
    await ask({ reason: 'ahead', refusal })
    expect(seen).toEqual([
      undefined,
      { server: 'https://one.test', status: 401, at: 1000 },
      undefined,
      undefined,
    ])
  })

  it('keeps what it opened until the next login, or until nothing watches it', async () => {
    const { login, ask, released } = source()
    const stop = login.watch(() => {})
    await ask()
    expect(released).toEqual([])
    await ask()
    expect(released).toEqual([1])
    stop()
    expect(released).toEqual([1, 2])
  })

  it('fails with the error of a file or plugin as it is', async () => {
    const error = new ClosedError()
    const { ask, released } = source({
      acquire: async () => {
        throw error
      },
    })
    await expect(ask()).rejects.toBe(error)
    expect(released).toEqual([1])
  })

  it('fails with an outcome if its handler returned nothing', async () => {
    const { ask } = source({ handler: () => undefined })
    const error = await ask().catch((thrown: unknown) => thrown)
    expect((error as LoginError).outcomes).toStrictEqual([
      { handler: 'one', result: 'nothing', attempts: 1 },
    ])
  })
})
