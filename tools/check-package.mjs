// `npm run check:package`: packs every package and checks the tarballs that npm would publish.
import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { packInto } from './pack.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Optional packages that a bundled dependency loads in a `try` block. */
const TRIED = ['bufferutil', 'utf-8-validate']
/** Programs that another file starts by path. */
const STARTED = ['dist/signer-program.js']

const folder = mkdtempSync(join(realpathSync(tmpdir()), 'kubecred-check-'))
const problems = []
try {
  for (const { name, file } of packInto(folder)) {
    const found = await check(join(folder, file), join(folder, 'unpacked', name))
    process.stdout.write(`${name}: ${found.length === 0 ? 'ok' : 'failed'}\n`)
    problems.push(...found.map((problem) => `${name}: ${problem}`))
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length === 0 ? 0 : 1

async function check(tarball, folder) {
  mkdirSync(folder, { recursive: true })
  const unpacked = run('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder])
  if (unpacked !== undefined) return [unpacked]
  const files = readdirSync(folder, { recursive: true })
    .filter((file) => statSync(join(folder, file)).isFile())
    .map((file) => file.replaceAll('\\', '/'))
  const texts = new Map(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
  const manifest = JSON.parse(texts.get('package.json'))
  return [
    ...checkFiles(texts),
    ...checkMaps(texts),
    ...checkManifest(manifest),
    ...(await checkPrograms(folder, manifest, texts)),
    ...checkTypes(manifest, texts),
    ...checkWithTools(tarball, manifest),
  ]
}

function checkFiles(texts) {
  return ['README.md', 'LICENSE']
    .filter((file) => !texts.has(file))
    .map((file) => `${file} is missing`)
}

function checkMaps(texts) {
  return [...texts].flatMap(([file, text]) => {
    const map = /^\/[/*][#@] sourceMappingURL=(\S+)/m.exec(text)?.[1]
    if (map === undefined || texts.has(join(dirname(file), map))) return []
    return [`${file} names the source map ${map}, which is missing`]
  })
}

function checkManifest({ dependencies, optionalDependencies, exports, ...manifest }) {
  // Our own packages have one version, and may depend on exactly that version of each other.
  const needed = Object.entries({ ...dependencies, ...optionalDependencies }).filter(
    ([name]) => !/^(@kubecred\/|kubecred$)/.test(name),
  )
  return [
    ...['description', 'keywords', 'author', 'license', 'engines']
      .filter((field) => manifest[field] === undefined)
      .map((field) => `package.json has no ${field}`),
    ...needed
      .filter(([, range]) => !range.startsWith('^'))
      .map(([name, range]) => `the dependency ${name} must be a caret range, not ${range}`),
    // attw accepts a package without types.
    ...publicImports(exports)
      .filter(([, target]) => target.types === undefined)
      .map(([path]) => `the export ${path} has no types`),
  ]
}

/** Follows every import from the manifest: all files exist, all packages are declared, and no file is unused. */
async function checkPrograms(folder, manifest, texts) {
  const exported = Object.values(manifest.exports).map((target) => target.default ?? target)
  const { errors, metafile } = await build({
    entryPoints: [
      ...Object.values(manifest.bin ?? {}),
      ...exported.filter((target) => target.endsWith('.js')),
      ...STARTED.filter((file) => texts.has(file)),
    ],
    absWorkingDir: folder,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    outdir: 'out',
    metafile: true,
    logLevel: 'silent',
  }).catch((error) => error)
  if (metafile === undefined) {
    return errors.map(({ text, location }) => `${location?.file ?? 'package.json'}: ${text}`)
  }
  const imports = Object.entries(metafile.inputs).flatMap(([file, input]) =>
    input.imports
      // esbuild lists its own helpers as an import of this name.
      .filter(({ external, path }) => external && path !== '<runtime>')
      .map(({ path }) => [file, path]),
  )
  // A module of types only is used by its types. The files of the page are loaded by the browser.
  const leftOver = [...texts]
    .filter(([file, text]) => /\.[cm]?js$/.test(file) && text.trim() !== 'export {};')
    .filter(([file]) => !file.startsWith('page/') && !Object.hasOwn(metafile.inputs, file))
  return [
    ...imports
      .filter(([, path]) => !isDeclared(path, manifest) && !TRIED.includes(path))
      .map(([file, path]) => `${file} imports ${path}, which package.json does not declare`),
    ...leftOver.map(([file]) => `${file} is used by no other file`),
  ]
}

/** Does the same for types. The compiler has written them, so the form of an import is known. */
function checkTypes(manifest, texts) {
  return [...texts]
    .filter(([file]) => file.endsWith('.d.ts'))
    .flatMap(([file, text]) => {
      const code = text.replaceAll(/\/\*.*?\*\//gs, '')
      const paths = [...code.matchAll(/(?:\bfrom |\bimport\(|\bimport )["']([^"']+)["']/g)]
      return paths.map(([, path]) => [file, path])
    })
    .filter(([file, path]) =>
      path.startsWith('.')
        ? !texts.has(join(dirname(file), path.replace(/\.[jt]s$/, '.d.ts')))
        : !isDeclared(path, manifest),
    )
    .map(([file, path]) => `${file} imports ${path}, which is not in the package or declared`)
}

function checkWithTools(tarball, { exports }) {
  const hasTypes = publicImports(exports).length > 0
  return [
    run('npx', ['--no-install', 'publint', 'run', '--strict', tarball]),
    // A package with only programs has nothing to check.
    hasTypes && run('npx', ['--no-install', 'attw', '--profile', 'esm-only', tarball]),
  ].filter(Boolean)
}

/** The public subpaths; `./internal` is for our own packages. */
function publicImports(exports) {
  return Object.entries(exports).filter(
    ([path]) => path !== './package.json' && path !== './internal',
  )
}

function isDeclared(path, { dependencies, optionalDependencies, peerDependencies }) {
  if (path.startsWith('node:') || builtinModules.includes(path)) return true
  const [, name] = /^((?:@[^/]+\/)?[^/]+)/.exec(path)
  return Object.hasOwn({ ...dependencies, ...optionalDependencies, ...peerDependencies }, name)
}

/** Runs a program, and returns its output if it failed. */
function run(command, args) {
  // On Windows npx is a .cmd file, which only a shell can start.
  const ended = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (ended.status === 0) return undefined
  const reason = ended.error?.message ?? `${ended.stdout}${ended.stderr}`
  return `${args.find((arg) => !arg.startsWith('-')) ?? command} failed:\n${reason}`
}
