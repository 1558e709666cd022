import { defineConfig } from 'vitest/config'
import { SlowestFiles } from './test/slowest-files.ts'

// The packages as npm packs them, installed as their users install them: `npm run test:packages`.
export default defineConfig({
  test: {
    include: ['test/packed/**/*.test.ts'],
    globalSetup: ['test/packed/setup.ts'],
    reporters: ['default', new SlowestFiles()],
    // Two cores; packages are downloaded and unpacked.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 180_000,
  },
})
