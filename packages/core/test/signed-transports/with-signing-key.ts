import type { Driver } from '../transports/driver.ts'
import { onVault } from '../transports/on-vault.ts'

/** Returns the driver with signing keys from login handlers. */
export function withSigningKey(driver: Driver): Driver {
  const { cannotWhereKeysSign: cannot, ...tried } = onVault(driver)
  const name = `${driver.name}, with a key that only signs`
  return { ...tried, ...(cannot && { cannot }), name, onlySigns: true }
}
