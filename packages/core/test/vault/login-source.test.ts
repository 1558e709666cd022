import { describe, expect, it } from 'vitest'
import { LoginError } from '../../src/errors/index.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { LoginSource, type OpenedLogin } from '../../src/vault/login-source.ts'
import { settle } from './vault-scene.ts'

const handler = () => ({ server: 'https://one.test', token: 'Zq8Xw2Vb7NcR5tYu' })

/** A login that opens something of the test's. */
function open(acquire: OpenedLogin['acquire']) {
  const life = new AbortController()
  let released = 0
  const source = new LoginSource(
    { id: 'one', handler, options: {} },
    {
      clock: new FakeClock(0),
      isDepleted: () => true,
      open: async () => ({
        acquire,
        watch: () => () => {},
        release: async () => {
          released += 1
        },
      }),
    },
  )
  const asked = source
    .acquire({ reason: 'first', signal: life.signal, report() {} })
    .catch((error: unknown) => error)
  return { asked, life, released: () => released }
}

describe('what a login opened', () => {
  it('is given back when everything was closed before it answered', async () => {
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

  it('is given back when it fails, and whatever it failed with becomes an error of the login', async () => {
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

  it('is kept while it serves', async () => {
    const { asked, released } = open(async () => ({ credential: {}, expiresAt: 1 }))
    expect(await asked).toMatchObject({ expiresAt: 1 })
    expect(released()).toBe(0)
  })
})
