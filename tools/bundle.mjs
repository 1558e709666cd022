// Bundles the programs of packages/cli with all their dependencies into a few files: users install nothing else, and
// loading two hundred files takes longer than most commands.
//
// The files are CommonJS, which Node loads sooner than modules. No process loads two of them that contain the same source,
// except kubecred-token: what it needs if the agent has no credential is in further files.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { SETTINGS as SHARED_SETTINGS } from './bundle-settings.mjs'

const sources = fileURLToPath(new URL('../packages/cli/src', import.meta.url))
const folder = fileURLToPath(new URL('../packages/cli/dist/bundle', import.meta.url))
/** Commands that people wait for. They are also in a file without the other commands, which is loaded sooner. */
const QUICK_COMMANDS = ['fetch', 'run', 'token', 'whoami']
/** The file that kubectl may start for each request. Its few functions need no readable names. */
const SMALLEST = 'kubecred-token.cjs'
/** Node loads these for itself when it starts. */
const EARLY = /^(?:node:)?(?:buffer|events|fs|path|process|timers|url|util)$/
/** Packages that are large and rarely needed have a file each. */
const SEPARATE = ['undici', 'yaml', 'oauth4webapi', 'prom-client']
/** Of undici only the pool: the whole loads its fetch, and Node's, which takes longer than everything else. */
const PARTS = { undici: { Pool: 'undici/lib/dispatcher/pool.js' } }

const SETTINGS = {
  ...SHARED_SETTINGS,
  define: { 'import.meta.url': 'ownUrl', QUICK_COMMANDS: JSON.stringify(QUICK_COMMANDS) },
  banner: { js: "const ownUrl=require('node:url').pathToFileURL(__filename).href;" },
  metafile: true,
}

rmSync(folder, { recursive: true, force: true })
const made = [
  await bundle('entry.ts', 'kubecred.cjs', leaveForLater),
  await bundle('main.ts', 'main.cjs', loadOnFirstUse),
  await bundle('quick.ts', 'quick.cjs', loadOnFirstUse, leaveOutCommands),
  await bundle('token-program/main.ts', SMALLEST, leaveForLater),
  await bundle('token-program/slow-path.ts', 'slow-path.cjs', loadOnFirstUse),
  await bundle('token-program/context-token.ts', 'context-token.cjs', loadOnFirstUse),
  await bundle('token-program/help.ts', 'help.cjs'),
  await bundle('agent/start-agent.ts', 'start-agent.cjs'),
  await bundleModule('internal.ts', 'internal.js'),
  ...(await Promise.all(SEPARATE.map(bundlePackage))),
]
checkComplete(made)
writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(made))

async function bundle(from, to, ...setups) {
  const { metafile } = await build({
    ...SETTINGS,
    entryPoints: [join(sources, from)],
    outfile: join(folder, to),
    minifyIdentifiers: to === SMALLEST,
    plugins: [useGlobalProcess, ...setups].map((setup) => ({ name: setup.name, setup })),
  })
  return metafile
}

/** For our own packages, which are modules. */
async function bundleModule(from, to) {
  const { define: _, banner: __, ...settings } = SETTINGS
  const { metafile } = await build({
    ...settings,
    format: 'esm',
    entryPoints: [join(sources, from)],
    outfile: join(folder, to),
  })
  return metafile
}

async function bundlePackage(name) {
  const parts = Object.entries(PARTS[name] ?? {})
  const contents = parts.map(([member, path]) => `exports.${member} = require('${path}')`)
  const { metafile } = await build({
    ...SETTINGS,
    banner: {},
    stdin: {
      contents: contents.join('\n') || `module.exports = require('${name}')`,
      resolveDir: sources,
    },
    outfile: join(folder, `${name}.cjs`),
  })
  return metafile
}

/** As a module, all its members would be copied into each file that imports it. */
function useGlobalProcess(building) {
  building.onResolve({ filter: /^node:process$/ }, ({ path }) => ({ path, namespace: 'global' }))
  building.onLoad({ filter: /./, namespace: 'global' }, () => ({
    contents: 'export default globalThis.process',
  }))
}

function leaveForLater(building) {
  building.onResolve({ filter: /^\./ }, ({ path, kind }) => {
    if (kind !== 'dynamic-import') return undefined
    return { path: `./${basename(path, '.ts')}.cjs`, external: true }
  })
}

/**
 * Loads Node's modules, and the YAML parser, on first use and not when a source that imports them is loaded: a kubeconfig in
 * JSON or plain YAML needs no parser. The sources that import the other large packages are themselves loaded on first use.
 */
function loadOnFirstUse(building) {
  building.onResolve({ filter: /^[a-z]/ }, ({ path, kind }) => {
    const isSeparate = SEPARATE.includes(path)
    if (!isSeparate && (!isOfNode(path) || EARLY.test(path))) return undefined
    const isLate = !isSeparate || path === 'yaml'
    if (isLate && kind === 'import-statement') return { path, namespace: 'on-first-use' }
    return { path: isSeparate ? `./${path}.cjs` : path, external: true }
  })
  building.onLoad({ filter: /./, namespace: 'on-first-use' }, async ({ path }) => {
    const names = Object.keys(await import(path)).filter((name) => /^\w+$/.test(name))
    const members = names.map((name) => `get ${name}() { return load().${name} }`)
    return {
      contents: `let loaded
        const load = () => (loaded ??= require('${path}'))
        module.exports = { ${members.join(',')} }`,
    }
  })
}

function leaveOutCommands(building) {
  building.onResolve({ filter: /^\.\/commands\// }, ({ path, kind }) => {
    const isLeftOut = kind === 'dynamic-import' && !QUICK_COMMANDS.includes(basename(path, '.ts'))
    return isLeftOut ? { path, namespace: 'left-out' } : undefined
  })
  building.onLoad({ filter: /./, namespace: 'left-out' }, ({ path }) => ({
    contents: `throw new Error('${path} is in another file')`,
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
