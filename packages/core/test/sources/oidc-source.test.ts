import { describe, expect, it } from 'vitest'
import { OidcUnreachableError } from '../../src/errors/index.ts'
import type { Secret } from '../../src/secret/secret.ts'
import { oidcSource } from '../../src/sources/oidc-source.ts'
import { listening } from '../fixtures/exec-source.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { boxed, CONFIG, grant, HOUR, idToken, makeLogin, spent } from '../fixtures/oidc-login.ts'

describe('the id token of the kubeconfig', () => {
  it('is used until ten seconds before its expiry, without asking the issuer', async () => {
    const { asked, acquire } = makeLogin(boxed(idToken(HOUR), 'r1'))
    expect(await acquire()).toEqual({ token: idToken(HOUR), leftMs: HOUR - 10_000 })
    expect(asked).toEqual([])
  })

  it.each([
    ['absent', undefined],
    ['expired', idToken(-HOUR)],
    ['in its last ten seconds', idToken(9_999)],
    ['not a JWT', 'opaque'],
  ])('is refreshed when it is %s', async (_, old) => {
    const { asked, answer, acquire } = makeLogin(boxed(old, 'r1'))
    answer(grant(idToken(HOUR, 'new')))
    expect(await acquire()).toEqual({ token: idToken(HOUR, 'new'), leftMs: HOUR - 10_000 })
    expect(asked).toEqual(['r1'])
  })

  it('is refreshed after a refusal although it has not expired', async () => {
    const { asked, answer, acquire } = makeLogin(boxed(idToken(HOUR), 'r1'))
    answer(grant(idToken(HOUR, 'new')))
    await acquire()
    expect((await acquire('refused')).token).toBe(idToken(HOUR, 'new'))
    expect(asked).toEqual(['r1'])
  })

  it('is refreshed ahead of its expiry, but not when only the certificate file it is combined with is due', async () => {
    const { clock, asked, answer, acquire } = makeLogin(boxed(idToken(HOUR), 'r1'))
    answer(grant(idToken(2 * HOUR)))
    await acquire()
    clock.advance(60_000)
    expect((await acquire('ahead')).token).toBe(idToken(HOUR))
    expect((await acquire('expired')).token).toBe(idToken(HOUR))
    clock.advance(HOUR / 2)
    expect((await acquire('ahead')).token).toBe(idToken(2 * HOUR))
    expect(asked).toEqual(['r1'])
  })
})

describe('without a refresh token', () => {
  it('the id token is used until it expires, also for early runs', async () => {
    const { clock, acquire } = makeLogin(boxed(idToken(HOUR)))
    await acquire()
    clock.advance(HOUR - 60_000)
    expect((await acquire('ahead')).token).toBe(idToken(HOUR))
  })

  it.each([
    ['first', undefined, 'no id-token either'],
    ['first', idToken(-HOUR), 'its id-token expired at 2027-01-15T07:00:00Z'],
    ['first', 'opaque', 'its id-token is not a JWT with an expiry'],
    ['refused', idToken(HOUR), 'the server refused its id-token'],
  ] as const)('%s: an unusable id token is an error with the reason', async (reason, id, says) => {
    const { acquire } = makeLogin(boxed(id))
    if (reason === 'refused') await acquire()
    await expect(acquire(reason)).rejects.toMatchObject({
      code: 'ERR_OIDC_CONFIG',
      message: `user "u" in "/k" has no refresh-token, and ${says}`,
      hint: expect.stringContaining('Log in again'),
    })
  })
})

describe('a refresh token', () => {
  it('stays valid if the issuer does not return a new one', async () => {
    const { reports, asked, answer, acquire } = makeLogin(boxed(undefined, 'r1'))
    answer(grant(idToken(HOUR)), grant(idToken(HOUR, 'new')))
    await acquire()
    await acquire('refused')
    expect(asked).toEqual(['r1', 'r1'])
    expect(reports).toEqual([])
  })

  it('is replaced by one that came without an id token, which is an error all the same', async () => {
    const login = makeLogin(boxed(idToken(-HOUR), 'r1'), { isSaved: true })
    login.answer(boxed(undefined, 'r2'), grant(idToken(HOUR)))
    await expect(login.acquire()).rejects.toMatchObject({ code: 'ERR_OIDC_REFUSED' })
    expect(login.entry.now?.refreshToken?.expose()).toBe('r2')
    expect((await login.acquire()).token).toBe(idToken(HOUR))
    expect(login.asked).toEqual(['r1', 'r2'])
  })

  it('is replaced when the issuer rotates it, with one warning that names the option', async () => {
    const rotated: string[] = []
    const onRotated = (next: Secret): void => void rotated.push(next.expose())
    const { entry, reports, asked, answer, acquire } = makeLogin(boxed(undefined, 'r1'), {
      onRotated,
    })
    answer(grant(idToken(HOUR), 'r2'), grant(idToken(HOUR, 'b'), 'r3'))
    await acquire()
    await acquire('refused')
    expect(asked).toEqual(['r1', 'r2'])
    expect(rotated).toEqual(['r2', 'r3'])
    expect(reports).toEqual([
      { type: 'warning', message: expect.stringContaining('saveOidcTokens: true') },
    ])
    expect(entry.saved).toBe(0)
  })

  it('is kept even if the id token that came with it is unusable', async () => {
    const { session, answer, acquire } = makeLogin(boxed(undefined, 'r1'))
    answer(grant('opaque', 'r2'))
    await expect(acquire()).rejects.toMatchObject({ code: 'ERR_OIDC_REFUSED' })
    expect(session.tokens.refreshToken?.expose()).toBe('r2')
  })

  it('is never used by two sources at the same time', async () => {
    const { session, clock, answer, acquire } = makeLogin(boxed(undefined, 'r1'))
    const other = oidcSource(CONFIG, session, {
      issuer: { refresh: () => Promise.reject(new Error('asked again')) },
      clock,
    })
    answer(grant(idToken(HOUR), 'r2'))
    const [mine, theirs] = await Promise.all([acquire(), other.acquire(listening().ask)])
    expect(theirs.credential.token?.expose()).toBe(mine.token)
  })

  it('can be used again after the issuer was unreachable', async () => {
    const { answer, acquire } = makeLogin(boxed(undefined, 'r1'))
    answer(new OidcUnreachableError(CONFIG.issuer, 'down'), grant(idToken(HOUR)))
    await expect(acquire()).rejects.toMatchObject({ code: 'ERR_OIDC_UNREACHABLE' })
    expect((await acquire()).token).toBe(idToken(HOUR))
  })
})

it('tokens appear in no event, error or inspection', async () => {
  const secrets = [idToken(-HOUR), 'marked-refresh-1', 'marked-refresh-2', idToken(HOUR)]
  const { session, entry, reports, answer, acquire } = makeLogin(boxed(secrets[0], secrets[1]), {
    isSaved: true,
  })
  entry.save = () => Promise.reject(new Error('no'))
  answer(grant(idToken(HOUR), 'marked-refresh-2'), spent())
  await acquire()
  const error = await acquire('refused').catch((thrown: unknown) => thrown)
  expectNoLeak([reports, session, error, boxed(...secrets.slice(0, 2))], secrets)
})
