import { expect } from 'vitest'
import { type Driver, NAMESPACES } from '../../transports/driver.ts'
import { until } from '../../transports/until.ts'
import { HeldSignature, openSigned } from '../signed-stage.ts'

/** A caller that aborts during signing is rejected at once; the next request succeeds. */
export async function abortWhileSigning(driver: Driver): Promise<void> {
  const held = new HeldSignature()
  await using signed = await openSigned(driver, held.habits)
  const { stage, key } = signed
  const leave = new AbortController()
  const sent = stage.ask({ path: NAMESPACES, signal: leave.signal })
  await Promise.race([held.begun, sent])
  leave.abort()
  // The signature would take forever: the abort does not wait for it.
  await expect(sent).rejects.toThrow()
  expect(stage.sandbox.requests).toEqual([])
  held.letGoOn()
  expect(await stage.outcome()).toEqual([200])
  expect(key.requests.length).toBeLessThanOrEqual(2)
}

/** Closing the cluster ends the wait of the caller, and the signature. */
export async function closeWhileSigning(driver: Driver): Promise<void> {
  const held = new HeldSignature()
  await using signed = await openSigned(driver, held.habits)
  const { stage } = signed
  const sent = stage.outcome()
  const signal = (await Promise.race([held.begun, sent])) as AbortSignal
  expect(signal.aborted).toBe(false)
  await stage.cluster.close()
  // Some drivers have their own cluster.
  if (stage.vault.status() !== undefined) await stage.client.close()
  expect(await sent).toContain('ERR_CLOSED')
  expect(signal.aborted).toBe(true)
  held.letGoOn()
  await until(() => stage.sandbox.connections.open === 0)
  expect(stage.sandbox.requests).toEqual([])
}
