import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { LONG } from './test/long.ts'
import { SlowestFiles } from './test/slowest-files.ts'

export default defineConfig({
  resolve: { alias: ['core', 'sandbox', 'cli'].flatMap(sourcesOf) },
  test: {
    include: [
      'packages/*/test/**/*.test.ts',
      'conformance/**/*.test.ts',
      'test/repository/*.test.ts',
    ],
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

/**
 * Where the sources of a package's subpaths are: its manifest says so.
 *
 * They are aliases because vitest would give a condition to every process too, and Node 20 reads no TypeScript.
 */
function sourcesOf(name: string): { find: RegExp; replacement: string }[] {
  const folder = new URL(`packages/${name}/`, import.meta.url)
  const manifest: {
    readonly name: string
    readonly exports: Readonly<Record<string, { readonly 'kubecred-source'?: string }>>
  } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
  return Object.entries(manifest.exports).flatMap(([path, { 'kubecred-source': source }]) =>
    source === undefined
      ? []
      : {
          find: new RegExp(`^${manifest.name}${path.slice(1)}$`),
          replacement: fileURLToPath(new URL(source, folder)),
        },
  )
}
