import { expect } from 'vitest'
import { type Driver, NAMESPACES } from '../../transports/driver.ts'
import { until } from '../../transports/until.ts'
import { HeldSignature, openSigned } from '../signed-stage.ts'

/** Who leaves while somebody signs is told at once; the next request is answered. */
export async function abortWhileSigning(driver: Driver): Promise<void> {
  const held = new HeldSignature()
  await using signed = await openSigned(driver, held.habits)
  const { stage, key } = signed
  const leave = new AbortController()
  const sent = stage.ask({ path: NAMESPACES, signal: leave.signal })
  await Promise.race([held.begun, sent])
  leave.abort()
  // The signature would take for ever: what ends here does not wait for it.
  await expect(sent).rejects.toThrow()
  expect(stage.sandbox.requests).toEqual([])
  held.letGoOn()
  expect(await stage.outcome()).toEqual([200])
  expect(key.requests.length).toBeLessThanOrEqual(2)
}

/** The end of the cluster is the end of the wait, for the caller and for whoever signs. */
export async function closeWhileSigning(driver: Driver): Promise<void> {
  const held = new HeldSignature()
  await using signed = await openSigned(driver, held.habits)
  const { stage } = signed
  const sent = stage.outcome()
  const signal = (await Promise.race([held.begun, sent])) as AbortSignal
  expect(signal.aborted).toBe(false)
  await stage.cluster.close()
  // Some have a cluster of their own.
  if (stage.vault.status() !== undefined) await stage.client.close()
  expect(await sent).toContain('ERR_CLOSED')
  expect(signal.aborted).toBe(true)
  held.letGoOn()
  await until(() => stage.sandbox.connections.open === 0)
  expect(stage.sandbox.requests).toEqual([])
}
