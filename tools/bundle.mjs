// Makes the programs of packages/cli complete by themselves, in few files: a user installs nothing beside them, and to
// load two hundred files takes longer than most commands.
//
// kubecred is one file per command and some that they share, as modules. kubecred-token is one file with what it needs
// when the agent answers at once; what it needs later it takes from the files of kubecred. The start of an agent is a
// file of its own, because many processes may need it at the same time.
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
  // Of the sources, also of our library: what a command does not use is left out function by function.
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

/** A path that a file of the program finds beside itself must lead to the same place from the folder of the bundle. */
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
    // Names stay: people send us stacks.
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
  // To make a module of it, all its members would be copied, and again in each file that imports it.
  building.onLoad({ filter: /./, namespace: 'global' }, () => ({
    contents: 'export default globalThis.process',
  }))
}

/** Whatever the files import is among them or a part of Node: nothing else is installed with the program. */
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

/** The licenses of what others wrote and is in the files now. */
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
