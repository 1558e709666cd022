import { describe, expect, it } from 'vitest'
import { boxed, grant, HOUR, idToken, makeLogin, spent } from '../fixtures/oidc-login.ts'

describe('tokens that another program wrote to the kubeconfig', () => {
  it('are used before the issuer is asked', async () => {
    const { entry, asked, answer, acquire } = makeLogin(boxed(idToken(-1), 'r1'))
    entry.now = boxed(idToken(HOUR, 'theirs'), 'r2')
    expect((await acquire()).token).toBe(idToken(HOUR, 'theirs'))
    expect(asked).toEqual([])
    answer(grant(idToken(HOUR, 'next')))
    await acquire('refused')
    expect(asked).toEqual(['r2'])
  })

  it('revive a login that had ended, without a restart', async () => {
    const { entry, asked, answer, acquire } = makeLogin(boxed(undefined, 'r1'))
    answer(spent(), grant(idToken(HOUR)))
    await expect(acquire()).rejects.toMatchObject({ reason: 'invalid_grant' })
    entry.now = boxed(undefined, 'after-login')
    await acquire()
    expect(asked).toEqual(['r1', 'after-login'])
  })

  it.each([
    ['a valid id token', idToken(HOUR), ['r1']],
    ['an expired id token', idToken(-1), ['r1', 'r2']],
  ])('are read again after invalid_grant: a refresh token with %s', async (_, id, expected) => {
    const { entry, asked, answer, acquire } = makeLogin(boxed(undefined, 'r1'))
    const theirs = boxed(id, 'r2')
    answer(spent(), grant(idToken(HOUR, 'x')))
    const seen = entry.now
    let looks = 0
    entry.read = async () => (looks++ === 0 ? seen : theirs)
    await acquire()
    expect(asked).toEqual(expected)
  })

  it('are not needed: a kubeconfig that can no longer be read changes nothing', async () => {
    const { entry, acquire } = makeLogin(boxed(idToken(HOUR), 'r1'))
    entry.now = undefined
    expect((await acquire()).token).toBe(idToken(HOUR))
  })
})

describe('saving tokens', () => {
  it('happens for every new token, and without a warning', async () => {
    const { entry, reports, answer, acquire } = makeLogin(boxed(idToken(HOUR), 'r1'), {
      isSaved: true,
    })
    await acquire()
    expect(entry.saved).toBe(0)
    answer(grant(idToken(HOUR, 'new'), 'r2'))
    await acquire('refused')
    expect(entry.saved).toBe(1)
    expect(entry.now?.refreshToken?.expose()).toBe('r2')
    await acquire()
    expect([entry.saved, reports]).toEqual([1, []])
  })

  it('only warns if it fails, and is tried again', async () => {
    const { entry, reports, answer, acquire } = makeLogin(boxed(undefined, 'r1'), { isSaved: true })
    const { save } = entry
    entry.save = () => Promise.reject(new Error('the disk is full'))
    answer(grant(idToken(HOUR), 'r2'))
    expect((await acquire()).token).toBe(idToken(HOUR))
    expect(reports).toEqual([
      {
        type: 'warning',
        message: 'the new tokens of user "u" in "/k" were not saved: the disk is full',
      },
    ])
    entry.save = save
    await acquire()
    expect(entry.saved).toBe(1)
  })

  it('does not overwrite tokens of another program, and uses those next', async () => {
    const { entry, reports, answer, acquire } = makeLogin(boxed(undefined, 'r1'), { isSaved: true })
    entry.save = async () => {
      entry.now = boxed(idToken(HOUR, 'theirs'), 'r9')
      return 'changed'
    }
    answer(grant(idToken(HOUR), 'r2'))
    await acquire()
    expect(reports).toEqual([
      { type: 'warning', message: expect.stringContaining('another program changed them') },
    ])
    expect((await acquire('refused')).token).toBe(idToken(HOUR, 'theirs'))
  })
})

it('a connection that joins with a newer id token updates the session', async () => {
  const { session, entry, acquire } = makeLogin(boxed(idToken(-1), 'r1'))
  const newer = boxed(idToken(HOUR, 'newer'), 'r1')
  session.join({ ...entry, read: async () => newer }, newer)
  expect((await acquire()).token).toBe(idToken(HOUR, 'newer'))
  session.join({ ...entry }, boxed(idToken(1), 'r1'))
  expect(session.tokens.idToken?.expose()).toBe(idToken(HOUR, 'newer'))
})
