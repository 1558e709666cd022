// `npm run pack`: the packages as npm would publish them, in build/packed. deploy/Dockerfile takes them from there.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const PACKAGES = ['core', 'sandbox', 'pkcs11', 'cli']

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(root, 'build/packed')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of packInto(folder)) process.stdout.write(`build/packed/${name}\n`)
}

/** Packs what was built into a folder. Returns the names of the files. */
export function packInto(folder) {
  return PACKAGES.map((name) => {
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
    const { stdout, status } = spawnSync('npm', args, {
      cwd: join(root, 'packages', name),
      stdio: ['ignore', 'pipe', 2],
      encoding: 'utf8',
      // On Windows npm is a .cmd file, which only a shell can start.
      shell: process.platform === 'win32',
    })
    if (status !== 0) throw new Error(`npm pack of packages/${name} failed`)
    return JSON.parse(stdout)[0].filename
  })
}
