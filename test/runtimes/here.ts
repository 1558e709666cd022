import { CASES, type Case, type Driver } from '../../packages/core/test/transports/driver.ts'
import differences from './differences.json' with { type: 'json' }

/** Behaviours of a transport that are different on a runtime than on Node. */
interface Difference {
  readonly runtime: string
  readonly transport: string
  /** All behaviours by default. */
  readonly behaviours?: readonly Case[]
  /** Behaviours that are the same. */
  readonly except?: readonly Case[]
  /** Set if it holds, and does not on Node. */
  readonly holds?: boolean
  /** If it begins with the code of an error, the case must fail with that code. */
  readonly reason: string
}

/** The name of the runtime. Bun and Deno also set `process.versions.node`. */
export const RUNTIME =
  'bun' in process.versions ? 'Bun' : 'deno' in process.versions ? 'Deno' : 'Node'

/** Returns a driver with the differences of this runtime. The table runs what cannot hold, too, and it must fail. */
export function here(driver: Driver): Driver {
  const cannot: Partial<Record<Case, string>> = { ...driver.cannot }
  for (const each of differences as Difference[]) {
    if (each.runtime !== RUNTIME || each.transport !== driver.name) continue
    for (const name of each.behaviours ?? CASES) {
      if (each.except?.includes(name)) continue
      if (each.holds) delete cannot[name]
      else cannot[name] ??= each.reason
    }
  }
  return { ...driver, cannot }
}
