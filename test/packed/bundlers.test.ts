import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import commonjsModule from '@rollup/plugin-commonjs'
import jsonModule from '@rollup/plugin-json'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import { build } from 'esbuild'
import { rollup } from 'rollup'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import webpack from 'webpack'
import { LibraryFolder } from './library-folder.ts'

const run = promisify(execFile)
const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const page = readFileSync(file('../../docs/bundling.md'), 'utf8')

// Their types declare a CommonJS module, but they are ES modules.
const commonjs = commonjsModule as unknown as typeof commonjsModule.default
const json = jsonModule as unknown as typeof jsonModule.default

const PROGRAMS = ['connect', 'attach', 'vault']
/** The settings that docs/bundling.md recommends. */
const BANNER = /--banner:js="([^"]+)"/.exec(page)?.[1] ?? ''
const IGNORED = /commonjs\(\{ ignore: \['([^']+)'\] \}\)/.exec(page)?.[1] ?? ''

interface Bundle {
  /** The extension of the bundled programs. */
  readonly ending: string
  /** The bundler's warnings about our package. */
  readonly warnings: readonly string[]
}

const BUNDLERS: readonly {
  name: string
  bundle(entries: string[], outdir: string): Promise<Bundle>
}[] = [
  { name: 'esbuild (cjs)', bundle: (...args) => withEsbuild('cjs', ...args) },
  { name: 'esbuild (esm)', bundle: (...args) => withEsbuild('esm', ...args) },
  { name: 'rollup', bundle: withRollup },
  { name: 'webpack', bundle: withWebpack },
]

let library: LibraryFolder
let sandbox: Sandbox
let nodes: string[]
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  library = await LibraryFolder.make()
  library.link('@kubernetes/client-node')
  for (const name of PROGRAMS) {
    copyFileSync(file(`programs/${name}.mjs`), join(library.folder, `${name}.mjs`))
  }
  sandbox = await startSandbox()
  const { token } = sandbox.issueToken({ user: 'jane' })
  const KUBECONFIG = sandbox.writeKubeconfig({ user: { token } })
  const { url: SERVER, caPem: CA } = sandbox
  env = { PATH: process.env['PATH'], KUBECONFIG, SERVER, CA, TOKEN: token }
  nodes = [process.execPath, await findNode24()]
})

afterAll(async () => {
  await sandbox?.close()
  library?.[Symbol.dispose]()
})

describe.each(BUNDLERS)('a program bundled by $name', ({ bundle }) => {
  // Outside of the library's folder, so that a bundle finds no other files.
  const outdir = mkdtempSync(join(tmpdir(), 'kubecred-bundle-'))
  let bundled: Bundle

  beforeAll(async () => {
    const entries = PROGRAMS.map((name) => join(library.folder, `${name}.mjs`))
    bundled = await bundle(entries, outdir)
  })

  afterAll(() => rmSync(outdir, { recursive: true, force: true }))

  it.each(PROGRAMS)('works with %s on this Node and on Node 24', async (name) => {
    const program = join(outdir, `${name}${bundled.ending}`)
    const outputs = await Promise.all(
      nodes.map((node) => run(node, ['--no-deprecation', program], { env, cwd: outdir })),
    )
    const expected = { stdout: 'default\nkube-public\nkube-system\n', stderr: '' }
    expect(outputs).toEqual([expected, expected])
  })

  it('causes no warning about a file of kubecred', () => {
    expect(bundled.warnings).toEqual([])
  })
})

async function withEsbuild(
  format: 'cjs' | 'esm',
  entryPoints: string[],
  outdir: string,
): Promise<Bundle> {
  const ending = format === 'cjs' ? '.cjs' : '.mjs'
  const { warnings } = await build({
    entryPoints,
    outdir,
    outExtension: { '.js': ending },
    bundle: true,
    platform: 'node',
    format,
    // One is minified, which loses class names; in the other the names of the banner must not clash.
    ...(format === 'cjs' ? { minify: true } : { banner: { js: BANNER } }),
    logLevel: 'silent',
  })
  return { ending, warnings: warnings.map(({ text }) => text) }
}

async function withRollup(input: string[], dir: string): Promise<Bundle> {
  const warnings: string[] = []
  const made = await rollup({
    input,
    plugins: [
      nodeResolve({ preferBuiltins: true, exportConditions: ['node'] }),
      commonjs({ ignore: [IGNORED] }),
      json(),
    ],
    onwarn: ({ id = '', code = '' }) => {
      if (id.startsWith(library.package)) warnings.push(`${id}: ${code}`)
    },
  })
  await made.write({
    dir,
    format: 'es',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  })
  await made.close()
  return { ending: '.mjs', warnings }
}

async function withWebpack(entries: string[], path: string): Promise<Bundle> {
  const compiler = webpack({
    mode: 'production',
    target: 'node20',
    entry: Object.fromEntries(entries.map((entry, at) => [PROGRAMS[at] ?? '', entry])),
    output: { path, filename: '[name].cjs' },
    // Too slow.
    optimization: { minimize: false },
  })
  const { errors = [], warnings = [] } = await new Promise<webpack.StatsCompilation>(
    (resolve, reject) => {
      compiler.run((error, stats) => {
        if (error) reject(error)
        else resolve(stats?.toJson({ all: false, errors: true, warnings: true }) ?? {})
      })
    },
  )
  expect(errors.map(({ message }) => message)).toEqual([])
  const ours = warnings.filter(({ moduleName }) => moduleName?.includes('/kubecred/'))
  return { ending: '.cjs', warnings: ours.map(({ message }) => message) }
}

interface Finder {
  findNode(
    version: string,
    options: { readonly mayInstall: boolean },
  ): { readonly path: string } | { readonly problem: string }
}

async function findNode24(): Promise<string> {
  const { findNode }: Finder = await import(
    new URL('../../tools/newer-node.mjs', import.meta.url).href
  )
  const found = findNode('24.21.0', { mayInstall: true })
  if ('problem' in found) throw new Error(found.problem)
  return found.path
}
