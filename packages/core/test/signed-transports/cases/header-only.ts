import { expect } from 'vitest'
import type { Driver } from '../../transports/driver.ts'
import { openSigned } from '../signed-stage.ts'

/** A transport that can only add headers fails: nothing is sent or signed. */
export async function headerOnly(driver: Driver): Promise<void> {
  await using signed = await openSigned(driver)
  const { stage, key } = signed
  expect(await stage.outcome()).toContain('ERR_NOT_SUPPORTED')
  expect(stage.sandbox.requests).toEqual([])
  expect(key.requests).toEqual([])
}
