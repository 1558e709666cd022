import { describe, expect, it } from 'vitest'
import { LoginError } from '../../src/errors/index.ts'
import { Secret } from '../../src/secret/secret.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
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
