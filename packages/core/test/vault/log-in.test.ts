import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { logIn } from '../../src/vault/log-in.ts'
import {
  type LoginContext,
  type LoginHandler,
  type LoginOptions,
  PermanentError,
  TemporaryError,
} from '../../src/vault/login-handler.ts'
import { settle } from './vault-scene.ts'

const info = { server: 'https://one.test', token: 't' }
const logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Logs in while time goes on, a second at a time. */
async function play(handler: LoginHandler, options: LoginOptions = {}, seconds = 200) {
  const clock = new FakeClock(0)
  const closing = new AbortController()
  const seen: LoginContext[] = []
  const ask = { reason: 'first', signal: closing.signal, logger, onRetry() {} } as const
  const watched: LoginHandler = (context) => {
    seen.push(context)
    return handler(context)
  }
  const ended = logIn({ id: 'one', handler: watched, options }, ask, clock).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  for (let second = 0; second < seconds; second += 1) {
    await settle()
    clock.advance(1000)
  }
  return { ended, seen, closing, clock }
}

describe('a login', () => {
  it('is one attempt if it succeeds or returns nothing', async () => {
    expect((await (await play(() => info, {}, 1)).ended) as object).toHaveProperty('value')
    const { ended, seen } = await play(() => undefined, {}, 5)
    expect(await ended).toEqual({ value: undefined })
    expect(seen).toHaveLength(1)
  })

  it('with attempts 3 is three attempts', async () => {
    const { ended, seen } = await play(
      () => {
        throw new TemporaryError('busy', { delayMs: 2000 })
      },
      { attempts: 3 },
    )
    expect(await ended).toMatchObject({
      error: {
        code: 'ERR_LOGIN_FAILED',
        outcomes: [{ handler: 'one', result: 'failed', attempts: 3, reason: 'busy' }],
      },
    })
    expect(seen.map(({ attempt, elapsedMs }) => [attempt, elapsedMs])).toEqual([
      [1, 0],
      [2, 2000],
      [3, 4000],
    ])
  })

  it('is retried without a limit, with pauses that grow to a minute', async () => {
    const { seen, closing, ended } = await play(
      () => {
        throw new Error('no')
      },
      {},
      250,
    )
    const times = seen.map(({ elapsedMs }) => elapsedMs / 1000)
    expect(times.slice(0, 9)).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183])
    closing.abort(new Error('closed'))
    expect(await ended).toMatchObject({ error: { message: 'closed' } })
  })

  it('fails for good with a PermanentError, an invalid return value, or by option any error', async () => {
    for (const [handler, options, reason] of [
      [
        () => {
          throw new PermanentError('never')
        },
        {},
        'never',
      ],
      [() => 'text' as never, {}, /must return a ConnectionInfo or nothing, not a string/],
      [
        () => {
          throw new Error('any')
        },
        { errors: 'permanent' },
        'any',
      ],
    ] as const) {
      const { ended, seen } = await play(handler, options, 5)
      const expected = typeof reason === 'string' ? reason : expect.stringMatching(reason)
      expect(await ended).toMatchObject({
        error: { outcomes: [{ attempts: 1, reason: expected }] },
      })
      expect(seen).toHaveLength(1)
    }
  })

  it('counts as returning nothing if its errors are ignored', async () => {
    const { ended } = await play(
      () => {
        throw new Error('any')
      },
      { errors: 'ignored' },
      2,
    )
    expect(await ended).toEqual({ value: undefined })
  })

  it('survives whatever is thrown', async () => {
    for (const [thrown, reason] of [
      ['a string', 'a string'],
      [undefined, 'it threw undefined'],
      [null, 'it threw null'],
      [5, 'it threw a number'],
    ] as const) {
      const { ended } = await play(
        () => {
          throw thrown
        },
        { attempts: 1 },
        2,
      )
      expect(await ended).toMatchObject({ error: { outcomes: [{ reason }] } })
    }
  })

  it('is aborted by its time limit if it never returns, with that reason', async () => {
    const { ended, seen } = await play(() => new Promise(() => {}), { timeoutMs: 5000 }, 10)
    expect(await ended).toMatchObject({
      error: { outcomes: [{ reason: 'it took longer than 5000 ms' }] },
    })
    expect(seen[0]?.signal.aborted).toBe(true)
  })

  it('does not wait for an attempt beyond its time limit', async () => {
    const { ended, seen } = await play(
      () => {
        throw new TemporaryError('busy', { delayMs: 60_000 })
      },
      { timeoutMs: 5000 },
      2,
    )
    expect(await ended).toMatchObject({ error: { outcomes: [{ attempts: 1 }] } })
    expect(seen).toHaveLength(1)
  })

  it('does not block the event loop if a handler fails at once without a pause', async () => {
    const { seen, closing } = await play(
      () => {
        throw new TemporaryError('again', { delayMs: 0 })
      },
      {},
      3,
    )
    expect(seen.length).toBeGreaterThan(1)
    closing.abort(new Error('closed'))
  })

  it("removes secrets from a handler's error", async () => {
    const { ended } = await play(
      () => {
        throw new PermanentError('Bearer abcdefghijkl was not accepted\u001b[2J')
      },
      {},
      2,
    )
    const { error } = (await ended) as { error: Error }
    expect(error.message).not.toContain('abcdefghijkl')
    expect(error.message).not.toContain('\u001b')
  })
})

describe('an error that a handler throws', () => {
  it('has its name, and its cause if there is one', () => {
    const cause = new Error('why')
    for (const [kind, name] of [
      [TemporaryError, 'TemporaryError'],
      [PermanentError, 'PermanentError'],
    ] as const) {
      expect(new kind('no', { cause })).toMatchObject({ name, message: 'no', cause })
      expect(new kind('no')).not.toHaveProperty('cause')
    }
  })

  it('has a pause of 10 s, or any that can be waited for', () => {
    expect(new TemporaryError('no').delayMs).toBe(10_000)
    expect(new TemporaryError('no', { delayMs: 0 }).delayMs).toBe(0)
    for (const delayMs of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(new TemporaryError('no', { delayMs }).delayMs).toBe(10_000)
    }
  })
})
