import { defineConfig } from 'vitest/config'
import { FiguresReporter } from './test/cluster/figures-reporter.ts'
import { TableReporter } from './test/cluster/table-reporter.ts'
import fast from './vitest.config.ts'

// The suite against a real cluster; `npm run test:cluster` finds the programs first.
export default defineConfig({
  ...(fast.resolve && { resolve: fast.resolve }),
  test: {
    include: ['test/cluster/**/*.test.ts', 'conformance/differential/*.test.ts'],
    globalSetup: ['test/cluster/setup.ts'],
    reporters: ['default', new TableReporter(), new FiguresReporter()],
    // Two cores, and the cluster needs one of them. Inside of a file many tests wait beside each other.
    maxWorkers: 2,
    maxConcurrency: 12,
    testTimeout: 90_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
})
