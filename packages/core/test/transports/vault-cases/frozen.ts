import type { Sandbox } from '@kubecred/sandbox'
import { PermanentError } from 'kubecred/vault'
import { expect } from 'vitest'
import { expectNoLeak } from '../../fixtures/no-leak.ts'
import { seen } from '../admin.ts'
import { mostRuns } from '../cases/refusals.ts'
import { codesOf } from '../codes-of.ts'
import { type Driver, handsRefusalsBack, NAMESPACES } from '../driver.ts'
import { distinct } from '../scene.ts'
import { until } from '../until.ts'
import { infoFor, VaultStage, type VaultStageOptions } from '../vault-stage.ts'
import { Watch } from '../watch.ts'

const WAITING = 10

/** A handler that answers once, and again when it is let go on. */
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

/** Takes away what everybody uses; who sends after that has to wait. */
async function deplete(driver: Driver, stage: VaultStage): Promise<void> {
  stage.sandbox.revoke('user-1')
  stage.sandbox.revokeCertificates('user-1')
  if (handsRefusalsBack(driver)) expect(await stage.outcome()).toEqual([401])
}

/** When nothing is left, requests wait; the next login lets all of them go on. */
export async function freezeAndThaw(driver: Driver): Promise<void> {
  const { logins, calls, letGoOn } = heldLogin(driver)
  // Nobody stands in the queue twice: there is just enough room for each of them.
  await using stage = await VaultStage.open(driver, { logins, queueLimit: WAITING })
  expect(await stage.outcome()).toEqual([200])
  // So that all code that any request needs is loaded.
  await stage.outcome({ headers: { authorization: 'Bearer mine' } })
  await deplete(driver, stage)
  const frozen = Promise.all(Array.from({ length: WAITING }, () => stage.outcome()))
  await until(() => stage.vault.status()?.waiting === WAITING)
  // All of them have come as far as they can.
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(stage.vault.status()?.waiting).toBe(WAITING)
  letGoOn()
  expect(distinct((await frozen).flat())).toEqual([200])
  expect(calls).toHaveLength(2)
  expect(seen(stage.sandbox).at(-1)).toMatchObject({ tokenUser: 'user-2' })
  expect(stage.vault.status()).toMatchObject({ waiting: 0, state: 'ready' })
}

/** Who leaves while it waits for a login is told at once, and waits no more. The login goes on. */
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
 * A refused request waits for the next login and tries again with that, until its time is up.
 *
 * So nobody gets the server's own 401, but for those whose transport hands refusals back.
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
  if (handsRefusalsBack(driver)) expect(await stage.outcome()).toEqual([401])
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => stage.outcome()))
  // What is new is tried by whoever comes first, and handed back to them.
  const told = handsRefusalsBack(driver) ? outcomes.filter(([first]) => first !== 401) : outcomes
  expect(told).not.toEqual([])
  for (const each of told) expect(each).toContain('ERR_LOGIN_FAILED')
  expect(runs).toBeGreaterThan(1)
  expect(runs).toBeLessThanOrEqual(mostRuns(Date.now() - beganAt))
  sandbox.respondWith(undefined)
  await until(async () => (await stage.outcome())[0] === 200)
}

/** Whose time is up is told what each handler did, by the error itself or by what wraps it. */
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

/** How a client hands on an error that is ours. */
function shapeOf(error: Error & { code?: unknown; outcomes?: unknown }): Driver['tellsErrors'] {
  if (Array.isArray(error.outcomes)) return 'as it is'
  const { outcomes } = (error.cause ?? {}) as { outcomes?: unknown }
  if (Array.isArray(outcomes)) return 'as the cause'
  return error.code === 'ERR_LOGIN_FAILED' ? 'by code and message' : undefined
}

/** The end of the cluster is the end of everything on it: who waits is told, and what is open is cut. */
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
  // Some have a cluster of their own.
  if (stage.vault.status() !== undefined) await client.close()
  expect(await sent).toContain('ERR_CLOSED')
  await watch?.expectCut()
  expect(calls.at(-1)?.aborted).toBe(true)
  expect(stage.vault.status()).toBeUndefined()
  expect(await stage.outcome()).not.toEqual([200])
}
