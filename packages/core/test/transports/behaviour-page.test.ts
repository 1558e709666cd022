import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { withBehaviourTable } from './behaviour-page.ts'
import { loadDrivers } from './load-drivers.ts'

const page = fileURLToPath(new URL('../../../../docs/transports.md', import.meta.url))

it('docs/transports.md has the current table of the drivers; `npx vitest run behaviour-page -u` writes it', async () => {
  const drivers = (await loadDrivers()).map(({ driver }) => driver)
  const written = withBehaviourTable(readFileSync(page, 'utf8'), drivers)
  await expect(written).toMatchFileSnapshot(page)
})

it('every driver is tested with the table, with a vault and with signing keys', async () => {
  const found = await loadDrivers()
  expect(found.length).toBeGreaterThan(10)
  const missing = found.filter(
    ({ runs, runsOnVault, runsSigned }) => runs === undefined || !runsOnVault || !runsSigned,
  )
  expect(missing).toEqual([])
})
