import { describe, inject, it } from 'vitest'
import { loadDrivers } from '../../packages/core/test/transports/load-drivers.ts'
import { ROWS } from './cases/table.ts'
import { TestCluster } from './harness/test-cluster.ts'

const cluster = new TestCluster(inject('cluster'))
const drivers = (await loadDrivers()).filter(({ runs }) => runs === 'here')

// The reporter prints these as a table: one column per transport, one row per case.
for (const { driver } of drivers) {
  describe.concurrent(`case × transport: ${driver.name}`, () => {
    for (const [name, { run, without }] of Object.entries(ROWS)) {
      const test = without?.(driver) === undefined ? it : it.skip
      test(name, () => run(driver, cluster))
    }
  })
}
