import { defineConfig } from 'vitest/config'
import { LONG, LONGER } from './test/long.ts'
import fast from './vitest.config.ts'

// What takes too long for the fast suite; `npm run test:long`.
export default defineConfig({
  ...(fast.resolve && { resolve: fast.resolve }),
  test: {
    ...fast.test,
    include: [...Object.keys(LONG), ...Object.keys(LONGER)],
    provide: { isLong: true },
    exclude: [],
    typecheck: { enabled: false },
  },
})
