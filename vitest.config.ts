import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^kubecred$/, replacement: source('packages/core/src/index.ts') },
      { find: /^kubecred\/errors$/, replacement: source('packages/core/src/errors/index.ts') },
      { find: /^kubecred\/metrics$/, replacement: source('packages/core/src/metrics/index.ts') },
      { find: /^kubecred\/plugin$/, replacement: source('packages/core/src/authoring/index.ts') },
      { find: /^kubecred\/testing$/, replacement: source('packages/core/src/testing/index.ts') },
      { find: /^@kubecred\/sandbox$/, replacement: source('packages/sandbox/src/index.ts') },
    ],
  },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'conformance/**/*.test.ts'],
    typecheck: { enabled: true, include: ['packages/*/test-d/**/*.test-d.ts'] },
    testTimeout: 30_000,
  },
})
