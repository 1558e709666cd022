import fc from 'fast-check'
import type { RequestSummary } from 'kubecred/proxy'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { PluginExitedError } from '../../../core/src/errors/index.ts'
import { LatencyHistogram } from '../../src/page/latency-histogram.ts'
import { LiveState } from '../../src/page/live-state.ts'
import { MAX_TIMELINE_EVENTS } from '../../src/page/timeline.ts'
import { addFakeIdentity } from './fake-identity.ts'

const START = 1_700_000_000_000
let now: number
let state: LiveState

beforeEach(() => {
  now = START
  state = new LiveState({ title: 'test', now: () => now })
})

const request = (more: Partial<RequestSummary> = {}): RequestSummary => ({
  at: now,
  method: 'GET',
  path: '/api',
  status: 200,
  tookMs: 5,
  isUpgrade: false,
  ...more,
})

describe('the timeline', () => {
  const succeeded = {
    type: 'run-succeeded',
    tookMs: 120,
    isSame: false,
    expiresAt: START + 60_000,
    parts: ['token'],
  } as const

  it.each([
    [{ type: 'run-started', reason: 'first', ahead: false }, 'waiting'],
    [{ ...succeeded, reason: 'first' }, 'acquired'],
    [{ ...succeeded, reason: 'ahead' }, 'refreshed'],
    [{ ...succeeded, reason: 'refused' }, 'refreshed'],
    [{ type: 'refused', status: 401 }, 'refused'],
    [{ type: 'signed', scheme: 'ed25519', tookMs: 3 }, 'signed'],
    [{ type: 'user-prompt', text: 'touch it' }, 'waiting'],
    [{ type: 'warning', message: 'odd' }, 'warning'],
    [{ type: 'frozen' }, 'waiting'],
    [{ type: 'thawed', frozenMs: 10 }, 'refreshed'],
  ] as const)('shows %o as %s', (event, kind) => {
    addFakeIdentity(state, 'jane', { title: 'Jane' }).emit(event)
    const [shown] = state.snapshot().timeline
    expect(shown).toMatchObject({ number: 1, at: START, identity: 'jane', title: 'Jane', kind })
    expect(shown?.text).toMatch(/\w/)
  })

  it.each([
    { type: 'run-started', reason: 'ahead', ahead: true },
    { type: 'retried', method: 'GET', path: '/' },
    { type: 'retired' },
    { type: 'plugin-stderr', text: 'hello' },
    { type: 'log', level: 'info', message: 'hello' },
  ] as const)('leaves out %o', (event) => {
    addFakeIdentity(state, 'jane').emit(event)
    expect(state.snapshot().timeline).toEqual([])
  })

  it('keeps a limited number of the newest events, with consecutive numbers', () => {
    const { emit } = addFakeIdentity(state, 'jane')
    for (let at = 0; at < 5 * MAX_TIMELINE_EVENTS; at += 1) emit({ type: 'refused', status: 401 })
    const numbers = state.snapshot().timeline.map(({ number }) => number)
    expect(numbers).toHaveLength(MAX_TIMELINE_EVENTS)
    expect(numbers.at(-1)).toBe(5 * MAX_TIMELINE_EVENTS)
  })

  it('returns only the events that a client does not have', () => {
    const { emit } = addFakeIdentity(state, 'jane')
    for (let at = 0; at < 5; at += 1) emit({ type: 'refused', status: 401 })
    expect(state.snapshot(3).timeline.map(({ number }) => number)).toEqual([4, 5])
  })

  it('shortens long texts and removes control characters', () => {
    const { emit } = addFakeIdentity(state, 'jane')
    emit({ type: 'warning', message: `\u001B[31m<b>\n${'x'.repeat(1_000_000)}` })
    const [shown] = state.snapshot().timeline
    expect(shown?.text.length).toBeLessThanOrEqual(400)
    expect(shown?.text).not.toMatch(/\p{Cc}/u)
  })
})

describe('an identity', () => {
  it('is shown once it has a connection, until it is removed', () => {
    const { attach, remove } = state.identity('jane', 'Jane')
    expect(state.snapshot().identities).toEqual([])
    const played = addFakeIdentity(state, 'sam')
    expect(state.snapshot().identities.map(({ id }) => id)).toEqual(['sam'])
    played.remove()
    remove()
    expect(state.snapshot().identities).toEqual([])
    expect(attach).toBeTypeOf('function')
  })

  it('is not removed by the handle of an earlier identity with the same id', () => {
    const first = addFakeIdentity(state, 'jane')
    first.remove()
    addFakeIdentity(state, 'jane')
    first.remove()
    expect(state.snapshot().identities).toHaveLength(1)
  })

  it('cannot be added twice', () => {
    state.identity('jane', 'Jane')
    expect(() => state.identity('jane', 'Jane')).toThrow(TypeError)
  })

  it('has the current run, the prompt of a signer, and counters', () => {
    const { emit } = addFakeIdentity(state, 'jane')
    const view = () => state.snapshot().identities[0]
    emit({ type: 'run-started', reason: 'ahead', ahead: true })
    expect(view()?.runningSince).toBe(START)
    const failure = { type: 'run-failed', reason: 'ahead', tookMs: 1, nextTryAt: START } as const
    emit({ ...failure, error: new Error('no') as PluginExitedError })
    expect(view()).not.toHaveProperty('runningSince')
    emit({ type: 'user-prompt', text: 'Touch it' })
    expect(view()?.prompt).toBe('Touch it')
    emit({ type: 'prompt-ended' })
    expect(view()).not.toHaveProperty('prompt')
    emit({ type: 'refused', status: 401 })
    emit({ type: 'retried', method: 'GET', path: '/' })
    emit({ type: 'signed', scheme: 'ed25519', tookMs: 3 })
    expect(view()).toMatchObject({ refusals: 1, retried: 1, signatures: 1 })
  })

  it('has a shortened error', () => {
    const message = 'x'.repeat(100_000)
    addFakeIdentity(state, 'jane', { lastError: { code: 'ERR_X', message, hint: message } })
    expect(JSON.stringify(state.snapshot()).length).toBeLessThan(5000)
  })
})

describe('traffic', () => {
  it('is counted per second, with percentiles', () => {
    for (let at = 1; at <= 100; at += 1) state.recordRequest(request({ tookMs: at }))
    now += 1000
    state.recordRequest(request({ status: 500 }))
    state.recordRequest(request({ status: 0 }))
    state.addOpenCounter(() => 2)
    state.addOpenCounter(() => 3)
    const { traffic } = state.snapshot()
    expect(traffic).toMatchObject({ total: 102, failed: 2, open: 5 })
    expect(traffic.seconds).toHaveLength(2)
    expect(traffic.seconds[0]).toMatchObject({ at: START, requests: 100, failed: 0 })
    expect(traffic.seconds[0]?.p50).toBeCloseTo(50, -1)
    expect(traffic.seconds[0]?.p99).toBeCloseTo(99, -1)
    expect(traffic.seconds[1]).toMatchObject({ requests: 2, failed: 2 })
  })

  it('is dropped after two minutes, except for the totals', () => {
    for (let second = 0; second < 500; second += 1) {
      state.recordRequest(request())
      now += 1000
    }
    expect(state.snapshot().traffic.seconds.length).toBeLessThanOrEqual(120)
    now += 120_000
    const { traffic } = state.snapshot()
    expect(traffic).toMatchObject({ total: 500, seconds: [] })
    expect(traffic).not.toHaveProperty('p50')
  })

  it('is reported to listeners until they are removed', () => {
    const listener = vi.fn()
    const stop = state.watch(listener)
    state.recordRequest(request())
    addFakeIdentity(state, 'jane')
    stop()
    state.recordRequest(request())
    expect(listener.mock.calls).toEqual([['traffic'], ['credential']])
  })
})

it('a percentile is within 4 % of the real one', () => {
  const times = fc.array(fc.double({ min: 0.1, max: 500_000, noNaN: true }), { minLength: 1 })
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(times, share, (took, wanted) => {
      const histogram = new LatencyHistogram()
      for (const each of took) histogram.add(each)
      const sorted = took.toSorted((a, b) => a - b)
      const real = sorted[Math.max(1, Math.ceil(took.length * wanted)) - 1] ?? 0
      // Plus half a percent for rounding to three digits.
      expect(Math.abs(histogram.percentile(wanted) - real)).toBeLessThanOrEqual(real * 0.045)
    }),
  )
})

it('invalid durations are counted without harm', () => {
  const histogram = new LatencyHistogram()
  for (const odd of [Number.NaN, -1, 0, Number.POSITIVE_INFINITY]) histogram.add(odd)
  expect(histogram.total).toBe(4)
  expect(histogram.percentile(0.5)).toBeGreaterThan(0)
})
