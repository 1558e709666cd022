import { describe, expect, it } from 'vitest'
import { ClosedError, LoginError, type LoginOutcome } from '../../src/errors/index.ts'
import type { KeeperStatus } from '../../src/keeper/status.ts'
import { outcomeOf } from '../../src/vault/login-handlers.ts'
import { LoginHistory, type LoginRecord } from '../../src/vault/login-history.ts'
import { describeLogin, type LoginStatus } from '../../src/vault/vault-status.ts'

const label = { kind: 'login', name: 'corp' } as const
const refused = (outcome: Partial<LoginOutcome>) =>
  new LoginError([{ handler: 'corp', result: 'failed', attempts: 3, ...outcome }], 'no')

function keeper(state: KeeperStatus['state'], lastError?: unknown, nextTryAt?: number) {
  const status: KeeperStatus = {
    source: label,
    state,
    runs: 1,
    ...(nextTryAt !== undefined && { nextTryAt }),
  }
  return { label, lastError, status: () => status }
}

const facts = (record: Partial<LoginRecord> = {}, excludedUntil?: number) => ({
  record: { attempts: 2, refusals: 0, ...record },
  excludedUntil,
})

describe('the outcome of a login', () => {
  const retry = { reason: 'busy', nextTryAt: 50 }

  it.each([
    ['a credential', keeper('ready'), facts(), { result: 'credential', attempts: 2 }],
    [
      'a credential, although a later attempt failed',
      keeper('ready', refused({})),
      facts({ retry }),
      { result: 'credential', attempts: 2 },
    ],
    [
      'a first attempt',
      keeper('running'),
      facts({ attempts: 0 }),
      { result: 'running', attempts: 1 },
    ],
    [
      'a further attempt',
      keeper('running'),
      facts({ retry }),
      { result: 'running', attempts: 2, reason: 'busy', nextTryAt: 50 },
    ],
    [
      'a failure, with its own attempts and the end of the pause',
      keeper('failed', refused({ reason: 'locked' }), 70),
      facts(),
      { result: 'failed', attempts: 3, reason: 'locked', nextTryAt: 70 },
    ],
    [
      'nothing',
      keeper('failed', refused({ result: 'nothing' })),
      facts(),
      { result: 'nothing', attempts: 3 },
    ],
    [
      'an error in what the login names, such as a plugin',
      keeper('failed', new ClosedError()),
      facts(),
      { result: 'failed', attempts: 2, reason: new ClosedError().message },
    ],
    [
      'an error without outcomes',
      keeper('failed', new LoginError([], 'no')),
      facts(),
      { result: 'failed', attempts: 2, reason: new LoginError([], 'no').message },
    ],
    ['no reason', keeper('failed', 'text'), facts(), { result: 'failed', attempts: 2 }],
    [
      'a refusal, with its end',
      keeper('ready'),
      facts({}, 90),
      { result: 'refused', attempts: 2, nextTryAt: 90 },
    ],
    [
      'a refusal, and why there is no other credential',
      keeper('ready', refused({ reason: 'locked' })),
      facts({}, 90),
      { result: 'refused', attempts: 2, nextTryAt: 90, reason: 'locked' },
    ],
    [
      'a refusal, and why the running login has none yet',
      keeper('ready', refused({ reason: 'locked' })),
      facts({ retry }, 90),
      { result: 'refused', attempts: 2, nextTryAt: 90, reason: 'busy' },
    ],
    [
      'a refusal, and that the next login returned nothing',
      keeper('ready', refused({ result: 'nothing' })),
      facts({}, 90),
      { result: 'refused', attempts: 2, nextTryAt: 90, reason: 'it returned nothing' },
    ],
  ])('is %s', (_, given, known, expected) => {
    expect(outcomeOf(given, known)).toEqual({ handler: 'corp', ...expected })
  })
})

describe('the status of a handler', () => {
  const status = { source: label, state: 'ready', runs: 1 }
  const last = {
    at: 5,
    tookMs: 6,
    server: 'https://one.test',
    priority: 7,
    parts: ['token'],
  } as const

  it('has only what is known', () => {
    expect(describeLogin(keeper('ready'), facts())).toStrictEqual({
      ...status,
      handler: 'corp',
      attempts: 2,
      refusals: 0,
    })
  })

  it('has the last login, and whom its requests impersonate', () => {
    const known: LoginStatus = {
      source: label,
      state: 'ready',
      runs: 1,
      handler: 'corp',
      attempts: 2,
      refusals: 0,
      lastLoginAt: 5,
      lastLoginMs: 6,
      server: 'https://one.test',
      priority: 7,
      parts: ['token'],
    }
    expect(describeLogin(keeper('ready'), facts({ last }))).toStrictEqual(known)
    expect(describeLogin(keeper('ready'), facts({ last: { ...last, as: 'jane' } }))).toEqual({
      ...known,
      as: 'jane',
    })
  })

  it('has the last failed attempt of the running login', () => {
    const retry = { reason: 'busy', nextTryAt: 50 }
    expect(describeLogin(keeper('running'), facts({ retry }))).toMatchObject({
      state: 'running',
      nextTryAt: 50,
      lastError: { code: 'ERR_LOGIN_FAILED', message: 'busy', hint: expect.any(String) },
    })
  })

  it('is refused while a credential that was ready is excluded', () => {
    const excluded = facts({}, 90)
    expect(describeLogin(keeper('ready'), excluded)).toMatchObject({
      state: 'refused',
      excludedUntil: 90,
    })
    expect(describeLogin(keeper('running'), excluded).state).toBe('running')
  })
})

describe('the history of a handler', () => {
  const details = {
    reason: 'first',
    attempts: 2,
    tookMs: 6,
    server: 'https://one.test',
    priority: 7,
    parts: ['token'],
    expiresAt: undefined,
  } as const

  it('is empty at first, and apart from that of others', () => {
    const history = new LoginHistory()
    history.noteRefusal({ ...label })
    expect(history.of(label)).toEqual({ attempts: 0, refusals: 0 })
  })

  it('counts attempts of the running login, and forgets the last failed attempt with its end', () => {
    const history = new LoginHistory()
    const outcome = { handler: 'corp', result: 'running', attempts: 4 } as const
    history.noteRetry(label, { ...outcome, reason: 'busy' }, 50)
    expect(history.of(label)).toMatchObject({
      attempts: 4,
      retry: { reason: 'busy', nextTryAt: 50 },
    })
    history.noteRetry(label, outcome, 60)
    expect(history.of(label).retry).toEqual({ reason: '', nextTryAt: 60 })
    history.noteStart(label)
    expect(history.of(label)).toMatchObject({ attempts: 0, retry: undefined })
    history.noteRetry(label, outcome, 60)
    history.noteLogin(label, { ...details, as: 'jane' }, 5)
    expect(history.of(label)).toEqual({
      attempts: 2,
      refusals: 0,
      retry: undefined,
      last: {
        at: 5,
        tookMs: 6,
        server: 'https://one.test',
        priority: 7,
        parts: ['token'],
        as: 'jane',
      },
    })
    history.noteLogin(label, details, 5)
    expect(history.of(label).last).not.toHaveProperty('as')
  })

  it('has the attempts of a failed login, and at least one', () => {
    const history = new LoginHistory()
    history.noteFailure(label, refused({}))
    expect(history.of(label)).toMatchObject({ attempts: 3, retry: undefined })
    history.noteStart(label)
    history.noteFailure(label, new ClosedError())
    expect(history.of(label).attempts).toBe(1)
  })

  it('counts refusals, and knows until when a credential is held', () => {
    const history = new LoginHistory()
    history.noteRefusal(label)
    history.noteRefusal(label)
    history.noteHeld(label, 90)
    expect(history.of(label)).toMatchObject({ refusals: 2, heldUntil: 90 })
  })
})
