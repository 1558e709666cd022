import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { LONG } from './test/long.ts'
import { SlowestFiles } from './test/slowest-files.ts'

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^kubecred$/, replacement: source('packages/core/src/index.ts') },
      { find: /^kubecred\/internal$/, replacement: source('packages/core/src/internal.ts') },
      {
        find: /^kubecred\/diagnose$/,
        replacement: source('packages/core/src/diagnose/index.ts'),
      },
      { find: /^kubecred\/errors$/, replacement: source('packages/core/src/errors/public.ts') },
      { find: /^kubecred\/metrics$/, replacement: source('packages/core/src/metrics/index.ts') },
      { find: /^kubecred\/plugin$/, replacement: source('packages/core/src/plugin/kit/index.ts') },
      { find: /^kubecred\/proxy$/, replacement: source('packages/core/src/proxy/index.ts') },
      {
        find: /^kubecred\/signer$/,
        replacement: source('packages/core/src/signer/kit/index.ts'),
      },
      { find: /^kubecred\/testing$/, replacement: source('packages/core/src/testing/index.ts') },
      {
        find: /^kubecred\/client-node$/,
        replacement: source('packages/core/src/adapters/client-node/index.ts'),
      },
      {
        find: /^kubecred\/http2$/,
        replacement: source('packages/core/src/adapters/http2/index.ts'),
      },
      {
        find: /^kubecred\/https$/,
        replacement: source('packages/core/src/adapters/https/index.ts'),
      },
      {
        find: /^kubecred\/undici$/,
        replacement: source('packages/core/src/adapters/undici/index.ts'),
      },
      {
        find: /^kubecred\/vault$/,
        replacement: source('packages/core/src/connect/vault-index.ts'),
      },
      { find: /^kubecred\/ws$/, replacement: source('packages/core/src/adapters/ws/index.ts') },
      {
        find: /^@kubecred\/cli\/internal$/,
        replacement: source('packages/cli/src/internal.ts'),
      },
      { find: /^@kubecred\/sandbox$/, replacement: source('packages/sandbox/src/index.ts') },
    ],
  },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'conformance/**/*.test.ts'],
    // What needs kubectl or Go runs with the cluster suite.
    exclude: [...configDefaults.exclude, ...Object.keys(LONG), 'conformance/differential/**'],
    globalSetup: ['test/own-environment.ts'],
    provide: { isLong: false },
    reporters: ['default', new SlowestFiles()],
    typecheck: { enabled: true, include: ['packages/*/test-d/**/*.test-d.ts'] },
    // Files share the modules of their worker: to load them anew for each file takes longer than most files.
    isolate: false,
    // Most of the time is spent waiting: for plugins, for expiry, for files to be noticed.
    maxWorkers: 4,
    testTimeout: 30_000,
    // A browser, or a server, may take as long to start on a busy machine.
    hookTimeout: 30_000,
  },
})
