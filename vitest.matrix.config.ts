import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

// The same tests, on what a user installs: tools/matrix.mjs packs and installs it, and says where.
const installed = process.env['KUBECRED_INSTALLED'] ?? ''
const packages = fileURLToPath(new URL('packages/', import.meta.url))
const NAMES: Readonly<Record<string, string>> = {
  core: 'kubecred',
  pkcs11: '@kubecred/pkcs11',
  sandbox: '@kubecred/sandbox',
}

/** Where a source file of ours is after the installation; undefined for every other file. */
function installedFile(path: string): string | undefined {
  const [, folder = '', file = ''] = /^([^/]+)\/src\/(.*)\.ts$/.exec(path) ?? []
  const name = NAMES[folder]
  return name && join(installed, 'node_modules', name, 'dist', `${file}.js`)
}

export default mergeConfig(
  base,
  defineConfig({
    plugins: [
      {
        name: 'kubecred-installed',
        enforce: 'pre',
        async resolveId(source, importer, options) {
          const resolved = await this.resolve(source, importer, { ...options, skipSelf: true })
          if (resolved === null || !resolved.id.startsWith(packages)) return undefined
          const file = installedFile(resolved.id.slice(packages.length))
          if (file === undefined) return undefined
          if (!existsSync(file))
            throw new Error(`${source} is not in the installed package: ${file}`)
          return { id: file, external: true }
        },
      },
    ],
    test: { typecheck: { enabled: false } },
  }),
)
