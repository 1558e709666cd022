import type { Driver } from '../transports/driver.ts'
import { onVault } from '../transports/on-vault.ts'

/** The same transport with private keys that only sign. Login handlers give them. */
export function withSigningKey(driver: Driver): Driver {
  const { cannotWhereKeysSign: cannot, ...tried } = onVault(driver)
  const name = `${driver.name}, with a key that only signs`
  return { ...tried, ...(cannot && { cannot }), name, onlySigns: true }
}
