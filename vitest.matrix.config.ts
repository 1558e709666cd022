import { createRequire } from 'node:module'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import fast from './vitest.config.ts'

// Tests of what a user installs: tools/matrix.mjs packs and installs it, and says where. Names of our packages lead there.
const { resolve } = createRequire(join(process.env['KUBECRED_INSTALLED'] ?? '', 'package.json'))

export default defineConfig({
  plugins: [
    {
      name: 'kubecred-installed',
      enforce: 'pre',
      async resolveId(source, importer, options) {
        if (/^(?:@kubecred\/|kubecred(?:\/|$))/.test(source)) {
          return { id: resolve(source), external: true }
        }
        const resolved = await this.resolve(source, importer, { ...options, skipSelf: true })
        if (resolved !== null && /\/packages\/[^/]+\/src\//.test(resolved.id)) {
          throw new Error(`${importer} imports the source ${source}, not the installed package`)
        }
        return resolved
      },
    },
  ],
  test: { ...fast.test, typecheck: { enabled: false } },
})
