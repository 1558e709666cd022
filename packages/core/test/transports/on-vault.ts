import type { Driver } from './driver.ts'

/** Returns the driver with credentials from a vault. */
export function onVault(driver: Driver): Driver {
  const { name, cannot, cannotOnVault } = driver
  const both = { ...cannot, ...cannotOnVault }
  return { ...driver, name: `${name}, on a vault`, cannot: both, isOnVault: true }
}
