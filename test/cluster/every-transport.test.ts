import { describe, inject, it } from 'vitest'
import { loadDrivers } from '../../packages/core/test/transports/load-drivers.ts'
import { ROWS } from './cases/table.ts'
import { TestCluster } from './harness/test-cluster.ts'

const cluster = new TestCluster(inject('cluster'))
const drivers = (await loadDrivers()).filter(({ runs }) => runs === 'here')

// The reporter makes a table of these: one column for each transport, one row for each case.
for (const { driver } of drivers) {
  describe.concurrent(`case × transport: ${driver.name}`, () => {
    for (const [name, { run, without }] of Object.entries(ROWS)) {
      const test = without?.(driver) === undefined ? it : it.skip
      test(name, () => run(driver, cluster))
    }
  })
}
