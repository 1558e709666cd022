import { describe, expect, it } from 'vitest'
import { abort } from './cases/abort.ts'
import { certificateRefused } from './cases/certificate-refused.ts'
import { coldHerd, expiry, warm } from './cases/load.ts'
import { ownAuthorization } from './cases/own-authorization.ts'
import { postOf } from './cases/post.ts'
import { proxy } from './cases/proxy.ts'
import { redirect } from './cases/redirect.ts'
import { refusedForever, refusedOnce, revokedMidStream } from './cases/refusals.ts'
import { authorityRotated, certificateRotated } from './cases/rotation.ts'
import { serverRestart } from './cases/server-restart.ts'
import { upgrade, upgradeRefusedOnce } from './cases/upgrade.ts'
import { codesOf } from './codes-of.ts'
import { CASES, type Case, type Driver } from './driver.ts'
import { hasOpenssl } from './refusing-server.ts'
import { refusedForeverOnVault } from './vault-cases/frozen.ts'

/** One row of the table: throws if a transport does not behave like that. */
type Run = (driver: Driver) => Promise<void>

const RUNS: Readonly<Record<Case, Run>> = {
  'cold herd': coldHerd,
  warm,
  expiry,
  '401 once': refusedOnce,
  '401 forever': refusedForever,
  'revoked mid-stream': revokedMidStream,
  'certificate rotated': certificateRotated,
  'certificate refused in the handshake': certificateRefused,
  'CA rotated': authorityRotated,
  "caller's own Authorization": ownAuthorization,
  'POST with a string': postOf('string'),
  'POST with a Buffer': postOf('buffer'),
  'POST with a stream': postOf('stream'),
  upgrade,
  'upgrade refused once': upgradeRefusedOnce,
  abort,
  proxy,
  'redirect to another origin': redirect,
  'server restart': serverRestart,
}

/** Cases that are different with a vault, which does not return a refusal while it may still log in. */
const ON_VAULT: Readonly<Partial<Record<Case, Run>>> = {
  '401 forever': refusedForeverOnVault,
}

/** Run alone: tokens live for seconds, and beside other cases a request may wait longer than that in the event loop. */
const ALONE: readonly Case[] = ['expiry']

/** Several cases share a machine that may be busy. */
export const LIMIT_MS = 60_000

/** Cases that need a missing program; tools/system-packages.mjs says how to install it. */
const WITHOUT: Partial<Record<Case, boolean>> = {
  'certificate refused in the handshake': !hasOpenssl,
}

/**
 * Runs the behaviour table against one transport.
 *
 * A case that the driver does not support is run too, and must fail: otherwise its reason is out of date.
 */
export function describeTransport(driver: Driver, cases: readonly Case[] = CASES): void {
  const runs = driver.isOnVault ? { ...RUNS, ...ON_VAULT } : RUNS
  const add = (name: Case): void => {
    const reason = driver.cannot?.[name]
    const test = it.skipIf(WITHOUT[name] === true)
    if (reason === undefined) test(name, () => runs[name](driver), LIMIT_MS)
    else test(`${name}: cannot hold`, () => expectNot(runs[name](driver), reason), LIMIT_MS)
  }
  const alone = cases.filter((name) => ALONE.includes(name))
  // They mostly wait: for files to be read again, for programs to start.
  describe.concurrent(driver.name, () => {
    for (const name of cases) if (!alone.includes(name)) add(name)
  })
  if (alone.length > 0) describe(driver.name, () => alone.forEach(add))
}

/** A reason that begins with the code of an error also says how the case must fail. */
async function expectNot(run: Promise<void>, reason: string): Promise<void> {
  expect(reason, 'a reason is a sentence').toMatch(/^[A-Z].{20,}\.$/s)
  const failure = await run.then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  if (failure === undefined) throw new Error(`it holds, although: ${reason}`)
  const code = /^ERR_\w+/.exec(reason)?.[0]
  if (code !== undefined) expect(codesOf(failure.error)).toContain(code)
}
