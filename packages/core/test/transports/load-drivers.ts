import { existsSync, readdirSync } from 'node:fs'
import type { Driver } from './driver.ts'

const folder = new URL('drivers/', import.meta.url)

/** A driver, and the tests that run it. */
export interface Found {
  readonly driver: Driver
  readonly file: string
  /** Undefined if no test runs it. */
  readonly runs: 'here' | 'on a newer Node' | undefined
  /** Whether it is tested with a vault. */
  readonly runsOnVault: boolean
  /** Whether it is tested with signing keys. */
  readonly runsSigned: boolean
}

/** Loads all drivers. Every version of Node can load every file, whatever its client needs. */
export async function loadDrivers(): Promise<Found[]> {
  const found: Found[] = []
  for (const file of readdirSync(folder).sort()) {
    const module = (await import(new URL(file, folder).href)) as Record<string, unknown>
    const driver = Object.values(module).find(isDriver)
    if (driver === undefined) continue
    const name = file.slice(0, -3)
    found.push({
      driver,
      file,
      runs: runsWhere(name),
      runsOnVault: runsBeside(name, 'vault'),
      runsSigned: runsBeside(name, 'signed'),
    })
  }
  return found
}

function isDriver(value: unknown): value is Driver {
  return typeof value === 'object' && value !== null && 'open' in value && 'name' in value
}

function runsWhere(name: string): Found['runs'] {
  if (has(`${name}.test.ts`)) return 'here'
  return has(`../newer-node/table-${name}.test.ts`) ? 'on a newer Node' : undefined
}

function runsBeside(name: string, kind: 'vault' | 'signed'): boolean {
  return (
    has(`../${kind}-transports/${name}.test.ts`) || has(`../newer-node/${kind}-${name}.test.ts`)
  )
}

function has(path: string): boolean {
  return existsSync(new URL(path, import.meta.url))
}
