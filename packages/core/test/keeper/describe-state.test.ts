import { describe, expect, it } from 'vitest'
import { PluginExitedError } from '../../src/errors/index.ts'
import { describeState } from '../../src/keeper/status.ts'
import { emptyState, type HeldCredential, type State } from '../../src/lifecycle/state.ts'

const NOW = 1000
const held: HeldCredential<string> = {
  credential: 'a secret',
  ticket: 1,
  acquiredAt: 1,
  expiresAt: NOW + 1,
  refreshAt: NOW,
  isUsed: true,
  isRefused: false,
}
const refused = { ...held, isRefused: true }
const attempt = { ticket: 2, reason: 'ahead' } as const
const lastError = new PluginExitedError('hand', 3)
const source = { kind: 'exec', name: 'hand' } as const

const describeAt = (state: Partial<State<string>>, lastRunMs?: number) =>
  describeState({ ...emptyState<string>(), ...state }, { source, runs: 2, lastRunMs, now: NOW })

describe('the status of a keeper', () => {
  it.each<[string, string, Partial<State<string>>]>([
    ['empty', 'before the first run', {}],
    ['running', 'during the first run', { attempt }],
    ['running', 'during the next try', { attempt, lastError }],
    ['ready', 'with a valid credential', { held, attempt, lastError }],
    ['refused', 'with a refused credential', { held: refused, attempt }],
    ['running', 'with an expired credential', { held: { ...held, expiresAt: NOW }, attempt }],
    ['failed', 'after a failed run', { lastError }],
    ['closed', 'after close()', { isClosed: true, held, attempt, lastError }],
  ])('is %s %s', (name, _, state) => {
    expect(describeAt(state).state).toBe(name)
  })

  it('has only what is known', () => {
    expect(describeAt({})).toStrictEqual({ source, state: 'empty', runs: 2 })
    expect(describeAt({ held: { ...held, expiresAt: Number.POSITIVE_INFINITY } }, 0)).toStrictEqual(
      { source, state: 'ready', runs: 2, lastRunMs: 0, acquiredAt: 1 },
    )
    expect(describeAt({ lastError: new TypeError('oops') })).not.toHaveProperty('lastError')
  })

  it('has the code, message and hint of the last error', () => {
    const { code, message, hint } = lastError
    expect(describeAt({ lastError }).lastError).toStrictEqual({ code, message, hint })
  })

  it('has the time of the next try while there is a pause', () => {
    const next = (state: Partial<State<string>>) => describeAt(state).nextTryAt
    expect(next({ pausedUntil: NOW })).toBeUndefined()
    expect(next({ pausedUntil: NOW + 1, refusalsPausedUntil: NOW + 2 })).toBe(NOW + 1)
    expect(next({ pausedUntil: NOW + 1, refusalsPausedUntil: NOW + 2, held: refused })).toBe(
      NOW + 2,
    )
    expect(next({ pausedUntil: NOW + 3, refusalsPausedUntil: NOW + 2, held: refused })).toBe(
      NOW + 3,
    )
  })
})
