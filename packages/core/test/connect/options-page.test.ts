import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { OVERRIDE_NAMES } from '../../src/kubeconfig/overrides.ts'
import { DEFAULT_LIFECYCLE } from '../../src/lifecycle/policy.ts'

const root = new URL('../../../../', import.meta.url)
const page = readFileSync(new URL('docs/options.md', root), 'utf8')

it('docs/options.md is what tools/options-page.mjs writes', async () => {
  const tool: { optionsPage(): string } = await import(new URL('tools/options-page.mjs', root).href)
  expect(page).toBe(tool.optionsPage())
})

it('docs/options.md has a row for every override', () => {
  const rows = [...page.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
  expect(rows).toEqual(expect.arrayContaining([...OVERRIDE_NAMES]))
})

it.each([
  ['pluginTimeoutMs', constant('connect/open-keeper.ts', 'PLUGIN_TIMEOUT_MS')],
  ['interactiveTimeoutMs', constant('connect/open-keeper.ts', 'INTERACTIVE_TIMEOUT_MS')],
  ['pluginOutputBytes', constant('connect/open-keeper.ts', 'PLUGIN_OUTPUT_BYTES')],
  ['signerIdleMs', constant('connect/open-keeper.ts', 'SIGNER_IDLE_MS')],
  ['pluginLimit', constant('node/process-registry.ts', 'DEFAULT_SLOT_LIMIT')],
  ['requestLimit', constant('connect/connect.ts', 'REQUEST_LIMIT')],
  ['streamLimit', constant('connect/connect.ts', 'STREAM_LIMIT')],
  ['backoffFirstMs', DEFAULT_LIFECYCLE.backoffFirstMs],
  ['backoffLimitMs', DEFAULT_LIFECYCLE.backoffLimitMs],
])('docs/options.md has the default of %s', (name, value) => {
  const [, cell] =
    new RegExp(`^\\| \`${name}\` +\\| \`number\` +\\| ([\\d,]+)`, 'm').exec(page) ?? []
  expect(cell).toBe(value.toLocaleString('en'))
})

/** Reads a constant that its module does not export: whole numbers, or a product of them. */
function constant(path: string, name: string): number {
  const source = readFileSync(new URL(`packages/core/src/${path}`, root), 'utf8')
  const [, value = ''] = new RegExp(`^const ${name} = ([\\d_ *]+)$`, 'm').exec(source) ?? []
  return value
    .replaceAll('_', '')
    .split('*')
    .reduce((product, factor) => product * Number(factor), 1)
}
