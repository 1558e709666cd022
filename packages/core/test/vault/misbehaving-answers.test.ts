import { describe, expect, it } from 'vitest'
import { LoginError } from '../../src/errors/index.ts'
import type { Lease } from '../../src/keeper/lease.ts'
import type { LoginHandler } from '../../src/vault/login-handler.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { ask, good, server } from './one-handler.ts'
import { settle } from './vault-scene.ts'

const unreadable = Object.defineProperty(new Error('x'), 'message', {
  get() {
    throw new Error('the getter threw')
  },
})

describe('what a handler throws', () => {
  it.each([
    ['a string', 'out of order', /out of order/],
    ['an empty string', '', /odd failed/],
    ['null', null, /it threw null/],
    ['undefined', undefined, /it threw undefined/],
    ['a number', 42, /it threw a number/],
    ['a symbol', Symbol('x'), /it threw a symbol/],
    ['a function', () => 'x', /it threw a function/],
    ['an error without a message', new RangeError(''), /RangeError/],
    ['an error whose message cannot be read', unreadable, /odd failed/],
    [
      'an object whose fields cannot be read',
      {
        get message() {
          throw new Error('x')
        },
      },
      /an? object/,
    ],
  ])('is described: %s', async (_, thrown, words) => {
    let logins = 0
    const { vault, pass, answer, askAgain } = ask(
      () => {
        logins += 1
        if (logins > 1) return good
        throw thrown
      },
      { attempts: 1 },
    )
    await pass(500)
    expect(vault.outcomes()).toMatchObject([{ handler: 'odd', result: 'failed' }])
    expect(new LoginError(vault.outcomes(), 'x').message).toMatch(words)
    expect(await answer).toMatchObject({ message: expect.stringMatching(words) })
    // Whatever it was, the next request has the handler asked again.
    await pass(1000)
    expect(await askAgain()).toMatchObject({ authorization: 'Bearer good' })
    expect(logins).toBe(2)
    await vault.close()
  })

  it('is shown without its secret, even if it is thrown synchronously', async () => {
    const secret = 'Bearer s3cr3t-of-the-corporation'
    const { vault, pass, answer, events } = ask(
      () => {
        throw new Error(`POST failed, authorization: ${secret}, token=${secret}`)
      },
      { errors: 'permanent' },
    )
    await pass(60_000)
    const error = await answer
    expect(error).toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    expectNoLeak([error, events, vault.status()], ['s3cr3t-of-the-corporation'])
    await vault.close()
  })
})

class Login {
  readonly server = server
  readonly token = 'good'
}

class Hidden {
  readonly #token = 'good'
  get server(): string {
    return server
  }
  get token(): string {
    return this.#token
  }
}

const throwing = new Proxy({} as { server: string }, {
  ownKeys() {
    throw new Error('no keys for you')
  },
})

describe('what a handler returns', () => {
  it.each([
    ['a string', 'token', /must return a ConnectionInfo or nothing, not a string/],
    ['an empty string', '', /not a string/],
    ['false', false, /not a boolean/],
    ['a number', 7, /not a number/],
    ['an array', [good], /not an array/],
    ['a function', () => good, /not a function/],
    ['an empty object', {}, /server is missing/],
    ['a map', new Map(Object.entries(good)), /server is missing/],
    ['an object whose fields are on its prototype', new Hidden(), /server is missing/],
    [
      'a token with a line break',
      { server, token: 'a\r\nX-Evil: 1' },
      /not allowed in an HTTP header/,
    ],
    [
      'a token that is not a string',
      { server, token: { toString: () => 'x' } },
      /token is not a string/,
    ],
    ['fields that do not exist', { server, tokn: 'x' }, /there is no field "tokn"/],
    ['a plain address with a token', { server: 'http://one.test', token: 't' }, /plain http/],
  ])(
    'is rejected with the reason, and the handler is not called again at once: %s',
    async (_, value, reason) => {
      let logins = 0
      const { vault, pass, answer, askAgain } = ask(() => {
        logins += 1
        return value as never
      })
      for (let second = 0; second < 60; second += 1) {
        await pass(1000)
        void askAgain()
      }
      expect(await answer).toMatchObject({
        code: 'ERR_LOGIN_FAILED',
        message: expect.stringMatching(reason),
      })
      // 0, 1, 3, 7, 15, 31 s.
      expect(logins).toBeLessThanOrEqual(7)
      await vault.close()
    },
  )

  it.each([
    ['a promise of a promise', () => Promise.resolve(Promise.resolve(good))],
    ['a frozen instance of a class', () => Object.freeze(new Login())],
    ['an object without a prototype', () => Object.assign(Object.create(null), good)],
    ['a proxy of a good one', () => new Proxy({ ...good }, {})],
  ])('is accepted if it has the fields: %s', async (_, handler) => {
    const { vault, answer } = ask(handler as LoginHandler)
    expect(await answer).toMatchObject({ authorization: 'Bearer good' })
    await vault.close()
  })

  it('can be a proxy that throws, which is a failure like any other', async () => {
    let logins = 0
    const { vault, pass, answer } = ask(() => {
      logins += 1
      return logins < 3 ? throwing : good
    })
    await pass(30_000)
    expect(await answer).toMatchObject({ authorization: 'Bearer good' })
    await vault.close()
  })

  it('can be changed afterwards without changing anything', async () => {
    const info = { server, token: 'good', priority: 1, expiration: new Date(2 ** 42) }
    const { vault, answer, clock } = ask(() => info)
    const lease = (await answer) as Lease
    info.token = 'evil'
    info.server = 'https://evil.test'
    info.expiration.setTime(clock.now())
    await settle()
    expect(await vault.lease()).toBe(lease)
    expect(lease.authorization).toBe('Bearer good')
    expect(lease.endpoint?.cluster.server).toBe(server)
    await vault.close()
  })
})
