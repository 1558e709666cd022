// `npm run pack`: writes the packages as they are published to build/packed, for deploy/Dockerfile and for trying them.
// tools/release.mjs makes those that are published.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** The folders of our packages, each after those it needs. */
export const PACKAGES = ['core', 'sandbox', 'pkcs11', 'cli', 'demo']

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(root, 'build/packed')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { file } of packInto(folder)) process.stdout.write(`build/packed/${file}\n`)
}

/**
 * Packs the built packages into a folder, without network access.
 *
 * @param {{ repository?: string | undefined }} [options] The address of the repository, for the manifests: npm compares it
 *   with the provenance.
 * @returns {{ name: string, file: string }[]} The name of each package, and its file in the folder.
 */
export function packInto(folder, { repository } = {}) {
  const staging = mkdtempSync(join(tmpdir(), 'kubecred-pack-'))
  try {
    const listed = npmPack(['--dry-run', ...PACKAGES.map((name) => `./packages/${name}`)])
    const staged = PACKAGES.map((name) => stage(name, listed, join(staging, name), repository))
    const packed = npmPack(['--pack-destination', folder, ...staged])
    return packed.map(({ name, filename }) => ({ name, file: filename }))
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** Copies the files that npm has listed, and adds the license and the manifest for users. */
function stage(folder, listed, to, repository) {
  const from = join(root, 'packages', folder)
  const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  const { files } = listed.find(({ name }) => name === manifest.name)
  for (const { path } of files) cpSync(join(from, path), join(to, path))
  cpSync(join(root, 'LICENSE'), join(to, 'LICENSE'))
  const source = repository && {
    repository: { type: 'git', url: `git+${repository}.git`, directory: `packages/${folder}` },
  }
  const contents = { ...published(manifest), ...source }
  writeFileSync(join(to, 'package.json'), JSON.stringify(contents, null, 2))
  return to
}

/** Returns the manifest without the fields that only the workspace needs, such as the sources of subpaths. */
function published({ scripts, devDependencies, exports, ...manifest }) {
  const targets = Object.entries(exports).map(([path, target]) => {
    if (typeof target === 'string') return [path, target]
    const { 'kubecred-source': _source, ...others } = target
    return [path, others]
  })
  return { ...manifest, exports: Object.fromEntries(targets) }
}

function npmPack(args) {
  const { stdout, status } = spawnSync('npm', ['pack', '--json', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 2],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    // On Windows npm is a .cmd file, which only a shell can start.
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`npm pack ended with status ${status}`)
  return JSON.parse(stdout)
}
