import type { LoginError } from 'kubecred/vault'
import { describe, expect, it } from 'vitest'
import { PermanentError, TemporaryError } from '../../src/vault/login-handler.ts'
import { openScene } from './vault-scene.ts'
import { pass } from './visibility-time.ts'

const server = 'https://one.test'
const refusal = { status: 401, headers: {} }
const START = 1_000_000_000

describe('the error of a request that got no login', () => {
  it('says for a handler that keeps trying how often it failed, why, and when it tries again', async () => {
    const { vault, clock } = openScene(
      {
        busy: () => {
          throw new TemporaryError('the login service is down', { delayMs: 7000 })
        },
        silent: () => new Promise(() => {}),
        locked: () => {
          throw new PermanentError('no')
        },
      },
      { freezeLimitMs: 10_000 },
    )
    const failed = Promise.resolve(vault.lease()).catch((error: unknown) => error)
    await pass(clock, 12)
    expect(await failed).toMatchObject({
      outcomes: [
        {
          handler: 'busy',
          result: 'running',
          attempts: 2,
          reason: 'the login service is down',
          nextTryAt: START + 14_000,
        },
        { handler: 'silent', result: 'running', attempts: 1 },
        { handler: 'locked', result: 'failed', reason: 'no' },
      ],
      message: expect.stringMatching(
        /busy has failed 2 times so far: the login service is down \(next attempt in 4 s\); silent has not finished; locked failed: no$/,
      ),
    })
    await vault.close()
  })

  it('says for a refused credential when it is tried again, and for an ignored error what it was', async () => {
    const { vault, clock } = openScene(
      {
        refused: () => ({ server, token: 'same' }),
        ignored: [
          () => {
            throw new Error('there is no such file')
          },
          { errors: 'ignored' },
        ],
      },
      { freezeLimitMs: 5000 },
    )
    vault.reject(await vault.lease(), refusal)
    const failed = Promise.resolve(vault.lease()).catch((error: unknown) => error)
    await pass(clock, 6)
    const error = (await failed) as LoginError
    // The one that returned nothing is asked again by the next request.
    expect(error.nextTryAt).toBeUndefined()
    expect(error).toMatchObject({
      outcomes: [
        { handler: 'refused', result: 'refused', nextTryAt: START + 30_000 },
        { handler: 'ignored', result: 'nothing', reason: 'there is no such file' },
      ],
      message: expect.stringMatching(
        /refused \(next attempt in 25 s\); ignored returned nothing after it failed: there is no such file/,
      ),
    })
    await vault.close()
  })
})
