import { describe, expect, it } from 'vitest'
import { ClosedError } from '../../src/errors/index.ts'
import { admitBySecret, admitByToken } from '../../src/proxy/authenticate.ts'
import { Secret } from '../../src/secret/secret.ts'

const ANYONE = { caller: undefined }
const CALLER = { user: 'jane', groups: [], extra: {} }
const bearer = (token: string) => `Bearer ${token}`

describe('callers that share a secret', () => {
  const admit = (given: string | undefined, ...secrets: string[]) =>
    admitBySecret(() => secrets.map((each) => new Secret(each)))(given)

  it.each(['Bearer one-secret', 'bearer one-secret', 'BEARER two-secret'])(
    'are admitted with %s',
    (given) => {
      expect(admit(given, 'one-secret', 'two-secret')).toEqual(ANYONE)
    },
  )

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer one-secre',
    'Bearer one-secretx',
    'Bearer two-secret',
    'Bearer  one-secret',
    'Basic one-secret',
    'xBearer one-secret',
    'one-secret',
  ])('are rejected with %s', (given) => {
    expect(admit(given, 'one-secret')).toMatchObject({ status: 401, why: 'the secret' })
  })

  it('are rejected if there is no secret, whatever they send', () => {
    for (const given of [undefined, '', 'Bearer ', 'Bearer x']) {
      expect(admit(given)).toMatchObject({ status: 401 })
    }
  })

  it('are checked against the secrets of that moment', () => {
    let secrets = [new Secret('old')]
    const admitNow = admitBySecret(() => secrets)
    expect(admitNow(bearer('old'))).toEqual(ANYONE)
    secrets = [new Secret('new')]
    expect(admitNow(bearer('old'))).toMatchObject({ status: 401 })
    expect(admitNow(bearer('new'))).toEqual(ANYONE)
  })
})

describe('callers with their own tokens', () => {
  it('are those that the token belongs to', async () => {
    const seen: string[] = []
    const now = admitByToken((token) => {
      seen.push(token)
      return CALLER
    })
    const later = admitByToken(async () => CALLER)
    expect(now(bearer('mine'))).toEqual({ caller: CALLER })
    expect(await later(bearer('mine'))).toEqual({ caller: CALLER })
    expect(seen).toEqual(['mine'])
  })

  it('are rejected if the token belongs to no caller', async () => {
    const refused = { status: 401, why: 'the token' }
    expect(admitByToken(() => undefined)(bearer('x'))).toMatchObject(refused)
    expect(await admitByToken(async () => undefined)(bearer('x'))).toMatchObject(refused)
  })

  it.each([undefined, '', 'Bearer ', 'Basic eDp5'])(
    'are rejected with %s, without a look at it',
    (given) => {
      const admit = admitByToken(() => {
        throw new Error('looked')
      })
      expect(admit(given)).toMatchObject({ status: 401, why: 'the token' })
    },
  )

  it('are rejected with a known error, and any other error is thrown', async () => {
    const known = { status: 503, why: 'ERR_CLOSED', code: 'ERR_CLOSED' }
    const failing = (error: Error) => () => {
      throw error
    }
    expect(admitByToken(failing(new ClosedError()))(bearer('x'))).toMatchObject(known)
    expect(() => admitByToken(failing(new Error('bug')))(bearer('x'))).toThrow('bug')
    const later = (error: Error) => admitByToken(async () => failing(error)())(bearer('x'))
    expect(await later(new ClosedError())).toMatchObject(known)
    await expect(later(new Error('bug'))).rejects.toThrow('bug')
  })
})
