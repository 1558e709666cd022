// Makes few files of what the programs need: to load two hundred takes longer than most commands.
//
// kubecred-token is one file with what it needs when the agent answers at once. What is imported only when it is
// needed stays where the compiler put it; the start of an agent is a file of its own, because many may need it at the
// same time, and so is what the error codes mean. kubecred is one file per command and some that they share.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const dist = fileURLToPath(new URL('../packages/cli/dist', import.meta.url))
const errors = fileURLToPath(new URL('../packages/core/dist/errors', import.meta.url))
const CODES = './error-codes.cjs'
const REQUIRE =
  "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);"

await bundle(join(dist, 'token-program/main.js'), 'kubecred-token.cjs', [leaveForLater, leaveCodes])
await bundle(join(dist, 'agent/start-agent.js'), 'start-agent.cjs', [leaveForLater, leaveCodes])
await bundle(join(errors, 'codes.js'), CODES, [])
await bundleProgram(join(dist, 'bundle'))

async function bundle(from, to, setups) {
  await build({
    entryPoints: [from],
    outfile: join(dist, to),
    bundle: true,
    format: 'cjs',
    define: { 'import.meta.url': 'ownUrl' },
    banner: { js: "const ownUrl='file://'+encodeURI(__filename);" },
    platform: 'node',
    target: 'node20',
    minify: true,
    // What was compiled is what is bundled; the paths of the workspace lead to the sources.
    tsconfigRaw: {},
    sourcemap: false,
    logLevel: 'warning',
    plugins: setups.map((setup) => ({ name: setup.name, setup })),
  })
}

function leaveForLater(building) {
  building.onResolve({ filter: /./ }, ({ path, kind, importer }) => {
    if (path === 'node:process') return { path, namespace: 'global' }
    if (kind !== 'dynamic-import' || path.startsWith('node:')) return undefined
    if (path.endsWith('/start-agent.js')) return { path: './start-agent.cjs', external: true }
    return { path: `./${relative(dist, resolve(dirname(importer), path))}`, external: true }
  })
  // To make a module of it, all its members would be copied, and again in each file that imports it.
  building.onLoad({ filter: /./, namespace: 'global' }, () => ({
    contents: 'export default globalThis.process',
  }))
}

/** What the error codes mean is needed only when there is an error. */
function leaveCodes(building) {
  building.onResolve({ filter: /error-codes\.cjs$/ }, () => ({ path: CODES, external: true }))
  building.onLoad({ filter: /errors\/codes\.js$/ }, () => ({
    contents: `export const CODES = new Proxy({}, { get: (_, code) => require('${CODES}').CODES[code] })`,
  }))
}

/** The paths that files of the program find beside themselves lead to the same place from here. */
async function bundleProgram(folder) {
  rmSync(folder, { recursive: true, force: true })
  const { metafile } = await build({
    entryPoints: [join(dist, 'main.js'), join(dist, 'demo/signer-program.js')],
    outdir: folder,
    entryNames: '[name]',
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Names stay: people send us stacks.
    minifyWhitespace: true,
    minifySyntax: true,
    // Needed by few commands, and large, or with files of their own beside them.
    external: ['@kubecred/*', 'prom-client', 'undici', 'ws', '@kubernetes/client-node'],
    // For `yaml`, which is CommonJS in Node.
    banner: { js: REQUIRE },
    tsconfigRaw: {},
    metafile: true,
    logLevel: 'warning',
  })
  writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(Object.keys(metafile.inputs)))
}

/** The licenses of what others wrote and is in the files now. */
function licensesOf(inputs) {
  const packages = inputs.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0])
  return [...new Set(packages.filter((path) => path !== undefined))]
    .sort()
    .map((path) => {
      const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
      const file = readdirSync(path).find((each) => /^licen[cs]e/i.test(each))
      if (file === undefined) throw new Error(`${name} is bundled and has no license file`)
      return `${name} ${version}\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`
    })
    .join('\n---\n\n')
}
