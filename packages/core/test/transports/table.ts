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
import { CASES, type Case, type Driver } from './driver.ts'
import { hasOpenssl } from './refusing-server.ts'
import { refusedForeverOnVault } from './vault-cases/frozen.ts'

/** One row of the table: throws when a transport does not hold it. */
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

/** What a vault does in its own way: it does not hand a refusal back while it may still log in. */
const ON_VAULT: Readonly<Partial<Record<Case, Run>>> = {
  '401 forever': refusedForeverOnVault,
}

/** Tokens live for seconds there: beside other rows one may wait longer than that for its turn in the event loop. */
const ALONE: readonly Case[] = ['expiry']

/** Several at a time share a machine that may be busy. */
export const LIMIT_MS = 60_000

/** Rows for which something is missing on this machine; tools/system-packages.mjs says how to get it. */
const WITHOUT: Partial<Record<Case, boolean>> = {
  'certificate refused in the handshake': !hasOpenssl,
}

/**
 * Runs the behaviour table against one transport.
 *
 * A cell that the driver says cannot hold is run too, and must fail: else its reason is out of date.
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
  // They mostly wait: for files to be looked at, for programs to start.
  describe.concurrent(driver.name, () => {
    for (const name of cases) if (!alone.includes(name)) add(name)
  })
  if (alone.length > 0) describe(driver.name, () => alone.forEach(add))
}

async function expectNot(run: Promise<void>, reason: string): Promise<void> {
  expect(reason, 'a reason is a sentence').toMatch(/^[A-Z].{20,}\.$/s)
  const held = await run.then(
    () => true,
    () => false,
  )
  expect(held, `it holds, although: ${reason}`).toBe(false)
}
