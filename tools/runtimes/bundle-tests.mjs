// Bundles the tests that Node, Bun and Deno run. Bare imports stay, so that they find the packages of the folder.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const SOURCES = fileURLToPath(new URL('../../test/runtimes', import.meta.url))

/**
 * Bundles each test file into a folder that is inside the one with the installed packages.
 *
 * @returns The paths of the bundles.
 */
export async function bundleTests(folder) {
  const files = readdirSync(SOURCES, { recursive: true }).filter((file) =>
    file.endsWith('.test.ts'),
  )
  await build({
    entryPoints: files.map((file) => join(SOURCES, file)),
    outbase: SOURCES,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
    plugins: [{ name: 'node-test', setup: replaceVitest }],
  })
  return files.map((file) => join(folder, file.replace(/\.ts$/, '.mjs')))
}

function replaceVitest({ onResolve, onLoad }) {
  onResolve({ filter: /^vitest$/ }, () => ({ path: join(SOURCES, 'node-test.ts') }))
  onLoad({ filter: /[\\/]packages[\\/][^\\/]+[\\/]src[\\/]/ }, ({ path }) => ({
    errors: [{ text: `a test imports the source ${path}, not the installed package` }],
  }))
}
