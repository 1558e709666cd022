import { defineConfig } from 'vitest/config'
import fast from './vitest.config.ts'

// `npm run fuzz`: one target after the other, so that each has the time that it was given.
export default defineConfig({
  ...(fast.resolve && { resolve: fast.resolve }),
  test: {
    include: ['test/fuzz/fuzz.test.ts'],
    globalSetup: ['test/own-environment.ts'],
    hookTimeout: 30_000,
  },
})
