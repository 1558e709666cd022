import { expect } from 'vitest'
import { seen } from '../../transports/admin.ts'
import type { Driver } from '../../transports/driver.ts'
import { distinct } from '../../transports/scene.ts'
import { openSigned, type SignedStage } from '../signed-stage.ts'

const COUNT = 20
const ONE_EACH = { inTurn: 1, atOnce: 1 }

/** An open connection needs no signature. */
export async function inTurn(driver: Driver): Promise<void> {
  await using signed = await openSigned(driver)
  for (let sent = 0; sent < COUNT; sent += 1) {
    expect(await signed.stage.outcome()).toEqual([200])
  }
  expectSignatures(signed, (driver.signatures ?? ONE_EACH).inTurn)
}

/** There is no connection yet. */
export async function atOnce(driver: Driver): Promise<void> {
  await using signed = await openSigned(driver)
  const outcomes = Array.from({ length: COUNT }, () => signed.stage.outcome())
  expect(distinct((await Promise.all(outcomes)).flat())).toEqual([200])
  expectSignatures(signed, (driver.signatures ?? ONE_EACH).atOnce)
}

/** One signature per connection that was used, and all requests are from the certificate's user. */
function expectSignatures({ stage: { sandbox }, key }: SignedStage, most: number): void {
  const records = seen(sandbox)
  expect(records).toHaveLength(COUNT)
  expect(distinct(records.map(({ user }) => user))).toEqual(['jane'])
  expect(distinct(records.map(({ tlsSessionReused }) => tlsSessionReused))).toEqual([false])
  expect(key.requests).toHaveLength(sandbox.connections.opened)
  expect(key.requests.length).toBeGreaterThan(0)
  expect(key.requests.length).toBeLessThanOrEqual(most)
}
