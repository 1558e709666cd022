// Bundles the programs of packages/cli with all their dependencies into a few files: users install nothing else, and
// loading two hundred files takes longer than most commands.
//
// kubecred is one module per command and some shared ones. kubecred-token is one file with what it needs if the agent has
// the credential; the rest it imports from the files of kubecred. The start of an agent is a separate file, because many
// processes may need it at the same time.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const sources = fileURLToPath(new URL('../packages/cli/src', import.meta.url))
const folder = fileURLToPath(new URL('../packages/cli/dist/bundle', import.meta.url))
/** What kubecred-token imports when it needs it. */
const FOR_TOKEN = ['slow-path', 'context-token', 'help']
const REQUIRE =
  "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);"
const SETTINGS = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  // From the sources, including the library's, so that unused functions are left out.
  conditions: ['kubecred-source'],
  tsconfigRaw: { compilerOptions: { target: 'es2023' } },
  metafile: true,
  logLevel: 'warning',
}

rmSync(folder, { recursive: true, force: true })
const made = [
  await bundleModules(),
  await bundle(join(sources, 'token-program/main.ts'), 'kubecred-token.cjs', leaveForLater),
  await bundle(join(sources, 'agent/start-agent.ts'), 'start-agent.cjs', leaveForLater),
]
checkComplete(made)
writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(made))

/** Rewrites paths that are relative to a source file, so that they are correct in the folder of the bundle. */
async function bundleModules() {
  const { metafile } = await build({
    ...SETTINGS,
    entryPoints: [
      join(sources, 'main.ts'),
      join(sources, 'internal.ts'),
      ...FOR_TOKEN.map((name) => join(sources, 'token-program', `${name}.ts`)),
    ],
    outdir: folder,
    entryNames: '[name]',
    chunkNames: 'part-[hash]',
    splitting: true,
    format: 'esm',
    // Keeps names readable in stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    // For packages that are CommonJS.
    banner: { js: REQUIRE },
  })
  return metafile
}

async function bundle(from, to, setup) {
  const { metafile } = await build({
    ...SETTINGS,
    entryPoints: [from],
    outfile: join(folder, to),
    format: 'cjs',
    define: { 'import.meta.url': 'ownUrl' },
    banner: { js: "const ownUrl='file://'+encodeURI(__filename);" },
    minify: true,
    plugins: [{ name: setup.name, setup }],
  })
  return metafile
}

function leaveForLater(building) {
  building.onResolve({ filter: /./ }, ({ path, kind }) => {
    if (path === 'node:process') return { path, namespace: 'global' }
    if (kind !== 'dynamic-import' || path.startsWith('node:')) return undefined
    const name = basename(path, '.ts')
    return { path: name === 'start-agent' ? './start-agent.cjs' : `./${name}.js`, external: true }
  })
  // As a module, all its members would be copied into each file that imports it.
  building.onLoad({ filter: /./, namespace: 'global' }, () => ({
    contents: 'export default globalThis.process',
  }))
}

/** Checks that the files import only each other and Node's modules: nothing else is installed with the program. */
function checkComplete(metafiles) {
  const missing = metafiles
    .flatMap(({ outputs }) => Object.values(outputs).flatMap(({ imports }) => imports))
    .filter(({ external, path }) => external && !isOfNode(path) && !existsSync(join(folder, path)))
    .map(({ path }) => path)
  if (missing.length > 0) throw new Error(`not in the bundle of the program: ${missing.join(', ')}`)
}

function isOfNode(path) {
  return path.startsWith('node:') || builtinModules.includes(path)
}

/** Collects the licenses of the bundled packages. */
function licensesOf(metafiles) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs))
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
