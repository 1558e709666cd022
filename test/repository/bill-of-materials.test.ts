import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

interface Component {
  readonly purl: string
  readonly 'bom-ref': string
  readonly scope?: string
  readonly licenses?: readonly { readonly expression: string }[]
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[]
  readonly components?: readonly Component[]
}

interface Bill {
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

interface Named {
  readonly name: string
  readonly version: string
}

const {
  billOfMaterials,
  readBundled,
}: {
  billOfMaterials(release: {
    readonly version: string
    readonly timestamp: string
    readonly lock: unknown
    readonly packages: readonly {
      readonly folder: string
      readonly name: string
      readonly sha256: string
      readonly bundled: readonly Named[]
    }[]
  }): Bill
  readBundled(licenses: string): readonly Named[]
} = await import(new URL('../../tools/release/bill-of-materials.mjs', import.meta.url).href)

const LOCK = {
  packages: {
    '': { devDependencies: { a: '1', dev: '1' } },
    'packages/core': { name: 'kubecred', version: '1.0.0', dependencies: { a: '^1' } },
    'packages/cli': {
      name: '@kubecred/cli',
      version: '1.0.0',
      dependencies: { kubecred: '1.0.0', a: '^2' },
      optionalDependencies: { absent: '1', '@s/native': '1' },
      devDependencies: { dev: '1' },
      peerDependencies: { peer: '1', other: '1' },
      peerDependenciesMeta: { other: { optional: true } },
    },
    'node_modules/kubecred': { resolved: 'packages/core', link: true },
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-AAEC', dependencies: { b: '1' } },
    'node_modules/b': { version: '1.1.0', dependencies: { a: '^1' } },
    'packages/cli/node_modules/a': { version: '2.0.0', dependencies: { b: '2' } },
    'packages/cli/node_modules/a/node_modules/b': { version: '2.1.0' },
    'node_modules/@s/native': { version: '3.0.0', optional: true },
    'node_modules/peer': { version: '4.0.0' },
    'node_modules/other': { version: '5.0.0' },
    'node_modules/dev': { version: '6.0.0', dev: true },
  },
}

const bill = (bundled: readonly Named[] = [], lock: unknown = LOCK) =>
  billOfMaterials({
    version: '1.0.0',
    timestamp: '2026-01-01T00:00:00Z',
    lock,
    packages: [
      { folder: 'packages/core', name: 'kubecred', sha256: 'c0', bundled: [] },
      { folder: 'packages/cli', name: '@kubecred/cli', sha256: 'c1', bundled },
    ],
  })

it('lists what npm installs with our packages, and nothing else', () => {
  expect(bill().components.map(({ purl }) => purl)).toEqual([
    'pkg:npm/%40kubecred/cli@1.0.0',
    'pkg:npm/%40s/native@3.0.0',
    'pkg:npm/a@1.0.0',
    'pkg:npm/a@2.0.0',
    'pkg:npm/b@1.1.0',
    'pkg:npm/b@2.1.0',
    'pkg:npm/kubecred@1.0.0',
    'pkg:npm/peer@4.0.0',
  ])
})

it('says which version each package gets', () => {
  const edges = new Map(bill().dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
  expect(edges.get('pkg:generic/kubecred@1.0.0')).toEqual([
    'pkg:npm/%40kubecred/cli@1.0.0',
    'pkg:npm/kubecred@1.0.0',
  ])
  expect(edges.get('pkg:npm/kubecred@1.0.0')).toEqual(['pkg:npm/a@1.0.0'])
  expect(edges.get('pkg:npm/a@2.0.0')).toEqual(['pkg:npm/b@2.1.0'])
  expect(edges.get('pkg:npm/b@1.1.0')).toEqual(['pkg:npm/a@1.0.0'])
  expect(edges.get('pkg:npm/%40kubecred/cli@1.0.0')).toEqual([
    'pkg:npm/%40s/native@3.0.0',
    'pkg:npm/a@2.0.0',
    'pkg:npm/kubecred@1.0.0',
    'pkg:npm/peer@4.0.0',
  ])
})

it('has the digests of our files and of locked packages', () => {
  const hashes = new Map(bill().components.map((each) => [each.purl, each.hashes]))
  expect(hashes.get('pkg:npm/kubecred@1.0.0')).toEqual([{ alg: 'SHA-256', content: 'c0' }])
  expect(hashes.get('pkg:npm/a@1.0.0')).toEqual([{ alg: 'SHA-512', content: '000102' }])
})

it('puts bundled packages inside of the package that contains them', () => {
  const { components } = bill([
    { name: 'dev', version: '6.0.0' },
    { name: 'kubecred', version: '1.0.0' },
  ])
  const [cli] = components
  expect(cli?.components?.map(({ purl }) => purl)).toEqual([
    'pkg:npm/dev@6.0.0',
    'pkg:npm/kubecred@1.0.0',
  ])
  const references = components.flatMap((each) => [each, ...(each.components ?? [])])
  expect(new Set(references.map((each) => each['bom-ref'])).size).toBe(references.length)
})

it('fails if a bundled package is not locked', () => {
  expect(() => bill([{ name: 'dev', version: '6.0.1' }])).toThrow('dev 6.0.1 is bundled')
})

it('fails if a dependency is not locked', () => {
  const { 'node_modules/b': _, ...packages } = LOCK.packages
  expect(() => bill([], { packages })).toThrow('package-lock.json has no b for node_modules/a')
})

it('reads the bundled packages from the file with their licenses', () => {
  const licenses = '@s/a 1.0.0\n\nA license\n---\n with a line\n\n---\n\nb 2.0.0-rc.1\n\nB\n'
  expect(readBundled(licenses)).toEqual([
    { name: '@s/a', version: '1.0.0' },
    { name: 'b', version: '2.0.0-rc.1' },
  ])
  expect(() => readBundled('A license\n')).toThrow('not a bundled package')
})

it('has a license for everything that this tree installs or bundles', () => {
  const root = new URL('../../', import.meta.url)
  const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
  const manifests = ['core', 'cli', 'sandbox', 'pkcs11', 'demo'].map((name) => ({
    folder: `packages/${name}`,
    manifest: JSON.parse(read(`packages/${name}/package.json`)),
  }))
  const bundled = readBundled(read('packages/cli/dist/bundle/LICENSES.txt'))
  const { components } = billOfMaterials({
    version: '1.0.0',
    timestamp: '',
    lock: JSON.parse(read('package-lock.json')),
    packages: manifests.map(({ folder, manifest: { name } }) => ({
      folder,
      name,
      sha256: '',
      bundled: name === '@kubecred/cli' ? bundled : [],
    })),
  })
  const inside = components.flatMap((each) => each.components ?? [])
  const core = manifests[0]?.manifest
  expect(components.map(nameOf)).toEqual(expect.arrayContaining(Object.keys(core.dependencies)))
  // The program contains the library, and so what the library needs.
  expect(inside.map(nameOf)).toEqual(expect.arrayContaining(Object.keys(core.dependencies)))
  expect([...components, ...inside].filter(({ licenses }) => licenses === undefined)).toEqual([])
})

function nameOf({ purl }: Component): string {
  return purl.slice('pkg:npm/'.length).replace(/@[^@]+$/, '')
}
