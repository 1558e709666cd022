import type { Sandbox } from '@kubecred/sandbox'
import { PermanentError } from 'kubecred/vault'
import { expect } from 'vitest'
import { expectNoLeak } from '../../fixtures/no-leak.ts'
import { seen } from '../admin.ts'
import { mostRuns } from '../cases/refusals.ts'
import { codesOf } from '../codes-of.ts'
import { type Driver, NAMESPACES, returnsRefusals } from '../driver.ts'
import { distinct } from '../scene.ts'
import { until } from '../until.ts'
import { infoFor, VaultStage, type VaultStageOptions } from '../vault-stage.ts'
import { Watch } from '../watch.ts'

const WAITING = 10

/** A handler that returns once, and again when it is released. */
function heldLogin(driver: Driver): {
  readonly logins: VaultStageOptions['logins']
  readonly calls: AbortSignal[]
  readonly letGoOn: () => void
} {
  const calls: AbortSignal[] = []
  let letGoOn = (): void => {}
  const gate = new Promise<void>((resolve) => {
    letGoOn = resolve
  })
  const logIn = async (sandbox: Sandbox, signal: AbortSignal) => {
    calls.push(signal)
    if (calls.length > 1) await gate
    return infoFor(driver, sandbox, `user-${calls.length}`)
  }
  const logins: VaultStageOptions['logins'] = ([sandbox]) => ({
    held: ({ signal }) => logIn(sandbox, signal),
  })
  return { logins, calls, letGoOn: () => letGoOn() }
}

/** Revokes all credentials, so that later requests have to wait. */
async function deplete(driver: Driver, stage: VaultStage): Promise<void> {
  stage.sandbox.revoke('user-1')
  stage.sandbox.revokeCertificates('user-1')
  if (returnsRefusals(driver)) expect(await stage.outcome()).toEqual([401])
}

/** When no login is left, requests wait; after the next login all of them continue. */
export async function freezeAndThaw(driver: Driver): Promise<void> {
  const { logins, calls, letGoOn } = heldLogin(driver)
  // No request is queued twice: the queue has exactly one place for each.
  await using stage = await VaultStage.open(driver, { logins, queueLimit: WAITING })
  expect(await stage.outcome()).toEqual([200])
  // Loads all code that a request needs.
  await stage.outcome({ headers: { authorization: 'Bearer mine' } })
  await deplete(driver, stage)
  const frozen = Promise.all(Array.from({ length: WAITING }, () => stage.outcome()))
  await until(() => stage.vault.status()?.waiting === WAITING)
  // All requests are waiting.
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(stage.vault.status()?.waiting).toBe(WAITING)
  letGoOn()
  expect(distinct((await frozen).flat())).toEqual([200])
  expect(calls).toHaveLength(2)
  expect(seen(stage.sandbox).at(-1)).toMatchObject({ tokenUser: 'user-2' })
  expect(stage.vault.status()).toMatchObject({ waiting: 0, state: 'ready' })
}

/** A request that is aborted while it waits for a login is rejected at once. The login continues. */
export async function abortWhileFrozen(driver: Driver): Promise<void> {
  const { logins, calls, letGoOn } = heldLogin(driver)
  await using stage = await VaultStage.open(driver, { logins })
  await deplete(driver, stage)
  const leave = new AbortController()
  const sent = stage.ask({ path: NAMESPACES, signal: leave.signal })
  const isFrozen = until(() => stage.vault.status()?.waiting === 1)
  await expect(Promise.race([isFrozen, sent])).resolves.toBeUndefined()
  leave.abort()
  await expect(sent).rejects.toThrow()
  await until(() => stage.vault.status()?.waiting === 0)
  letGoOn()
  expect(await stage.outcome()).toEqual([200])
  expect(calls).toHaveLength(2)
}

/**
 * A refused request waits for the next login and is retried with it, until its time is up.
 *
 * So callers get the server's own 401 only if their transport returns refusals.
 */
export async function refusedForeverOnVault(driver: Driver): Promise<void> {
  let runs = 0
  await using stage = await VaultStage.open(driver, {
    freezeLimitMs: 1000,
    logins: ([sandbox]) => ({
      hopeful: () => {
        runs += 1
        return infoFor(driver, sandbox, 'jane')
      },
    }),
  })
  const { sandbox } = stage
  const beganAt = Date.now()
  sandbox.respondWith(() => ({ status: 401, body: 'no' }))
  if (returnsRefusals(driver)) expect(await stage.outcome()).toEqual([401])
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => stage.outcome()))
  // A transport that returns refusals returns the one of the first try with a new credential.
  const failed = returnsRefusals(driver) ? outcomes.filter(([first]) => first !== 401) : outcomes
  expect(failed).not.toEqual([])
  for (const each of failed) expect(each).toContain('ERR_LOGIN_FAILED')
  expect(runs).toBeGreaterThan(1)
  expect(runs).toBeLessThanOrEqual(mostRuns(Date.now() - beganAt))
  sandbox.respondWith(undefined)
  await until(async () => (await stage.outcome())[0] === 200)
}

/** When the time of a request is up, the error, or one that wraps it, says what each handler did. */
export async function loginError(driver: Driver): Promise<void> {
  const tokens: string[] = []
  await using stage = await VaultStage.open(driver, {
    freezeLimitMs: 400,
    logins: ([sandbox]) => ({
      door: () => {
        if (tokens.length > 0) throw new PermanentError('the door is locked')
        const { token } = sandbox.issueToken({ user: 'user-1' })
        tokens.push(token)
        return { server: sandbox.url, caData: sandbox.caPem, token }
      },
    }),
  })
  await deplete(driver, stage)
  const error = await stage.ask().then(
    ({ status }) => status,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(Error)
  expect(codesOf(error)).toContain('ERR_LOGIN_FAILED')
  expect(shapeOf(error as Error)).toEqual(driver.tellsErrors)
  expect((error as Error).message + String((error as Error).cause)).toMatch(
    /door .*(locked|refuse)/,
  )
  expectNoLeak([error], tokens)
}

/** How a client passes on one of our errors. */
function shapeOf(error: Error & { code?: unknown; outcomes?: unknown }): Driver['tellsErrors'] {
  if (Array.isArray(error.outcomes)) return 'as it is'
  const { outcomes } = (error.cause ?? {}) as { outcomes?: unknown }
  if (Array.isArray(outcomes)) return 'as the cause'
  return error.code === 'ERR_LOGIN_FAILED' ? 'by code and message' : undefined
}

/** Closing the cluster rejects waiting requests, and ends open ones. */
export async function closeWhileFrozen(driver: Driver): Promise<void> {
  const { logins, calls } = heldLogin(driver)
  await using stage = await VaultStage.open(driver, { logins })
  const { sandbox, client, cluster } = stage
  const watch = driver.streamsAreUpgrades
    ? undefined
    : await Watch.open((request) => client.send(request), sandbox)
  await deplete(driver, stage)
  const sent = stage.outcome()
  await until(() => stage.vault.status()?.waiting === 1)
  await cluster.close()
  // Some drivers have their own cluster.
  if (stage.vault.status() !== undefined) await client.close()
  expect(await sent).toContain('ERR_CLOSED')
  await watch?.expectCut()
  expect(calls.at(-1)?.aborted).toBe(true)
  expect(stage.vault.status()).toBeUndefined()
  expect(await stage.outcome()).not.toEqual([200])
}
