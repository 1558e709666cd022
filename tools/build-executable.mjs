// `npm run build:executable`: makes one file that has Node and the programs of packages/cli inside, for machines without
// Node. Writes build/executable/: the program, a link for each other name, the man page, the licenses, and an archive of all.
//
//   node tools/build-executable.mjs --out FOLDER --node-license FILE
//
// The Node that runs this script becomes part of the file. Only Linux: on macOS and Windows the file would have to be signed.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { inject } from 'postject'
import { SETTINGS } from './bundle-settings.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const cli = join(root, 'packages/cli')
/** Marks the place in Node's own file that says whether a program was put inside. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { out: { type: 'string' }, 'node-license': { type: 'string' } },
  })
  const out = values.out ?? join(root, 'build/executable')
  try {
    const { program, archive } = await buildExecutable(out, values['node-license'])
    process.stdout.write(`${program}\n${archive}\n`)
  } catch (error) {
    process.stderr.write(`the executable was not built: ${error.message}\n`)
    process.exitCode = 1
  }
}

/**
 * Builds the executable into a folder, which is emptied first.
 *
 * @param {string} out
 * @param {string} [nodeLicense] The file with Node's license; by default it is looked for beside Node.
 */
export async function buildExecutable(out, nodeLicense = findNodeLicense()) {
  if (process.platform !== 'linux') {
    throw new Error(`the executable can be built on Linux only, not on ${process.platform}`)
  }
  const { version, bin } = JSON.parse(readFileSync(join(cli, 'package.json'), 'utf8'))
  const [name, ...otherNames] = Object.keys(bin)
  const program = join(out, name)
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  copyFileSync(realpathSync(process.execPath), program)
  chmodSync(program, 0o755)
  await injectQuietly(program, await makeBlob())
  for (const other of otherNames) symlinkSync(name, join(out, other))
  copyFileSync(join(cli, 'man/kubecred.1'), join(out, 'kubecred.1'))
  writeFileSync(join(out, 'LICENSES.txt'), allLicenses(nodeLicense))
  const archive = `${name}-${version}-${process.platform}-${process.arch}.tar.gz`
  run('tar', ['-czf', archive, ...readdirSync(out)], out)
  return { program, archive: join(out, archive) }
}

/** Bundles the programs into one script, and makes of it and the files of the page what Node looks for in its own file. */
async function makeBlob() {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-executable-'))
  try {
    const [main, output, page] = ['main.cjs', 'blob', 'page.json'].map((file) => join(folder, file))
    await build({
      ...SETTINGS,
      entryPoints: [join(cli, 'src/executable/main.ts')],
      outfile: main,
      define: { 'import.meta.url': '"file:///"', QUICK_COMMANDS: '[]' },
    })
    writeFileSync(page, JSON.stringify(pageFiles()))
    const settings = {
      main,
      output,
      assets: { page },
      disableExperimentalSEAWarning: true,
      // Inside the file it is as trustworthy as the code itself.
      useCodeCache: true,
    }
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
    run(process.execPath, ['--experimental-sea-config', join(folder, 'settings.json')], folder)
    return readFileSync(output)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the files of the page, by name. All are text. */
function pageFiles() {
  const folder = join(cli, 'page')
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )
}

/** postject warns about every section of Node's file whose name it does not know. */
async function injectQuietly(program, blob) {
  const { warn } = console
  console.warn = () => {}
  try {
    await inject(program, 'NODE_SEA_BLOB', blob, { sentinelFuse: FUSE })
  } finally {
    console.warn = warn
  }
}

function allLicenses(nodeLicense) {
  const parts = [
    ['kubecred', join(root, 'LICENSE')],
    [`Node.js ${process.version}`, nodeLicense],
  ].map(([name, file]) => `${name}\n\n${readFileSync(file, 'utf8').trim()}\n`)
  const bundled = readFileSync(join(cli, 'dist/bundle/LICENSES.txt'), 'utf8')
  return [...parts, bundled].join('\n---\n\n')
}

/** Looks where Node's archive and the packages of Linux distributions have it. */
function findNodeLicense() {
  const folder = dirname(realpathSync(process.execPath))
  const places = [
    '../LICENSE',
    'LICENSE',
    '../share/doc/nodejs/LICENSE',
    '../share/doc/node/LICENSE',
  ]
  const found = places.map((place) => join(folder, place)).find((place) => existsSync(place))
  if (found !== undefined) return found
  throw new Error("Node's license was not found beside Node: name it with --node-license FILE")
}

function run(command, args, cwd) {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? stderr}`)
}
