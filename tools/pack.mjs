// `npm run pack`: the packages as npm would publish them, in build/packed. deploy/Dockerfile takes them from there.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const PACKAGES = ['core', 'sandbox', 'pkcs11', 'cli', 'demo']

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(root, 'build/packed')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { file } of packInto(folder)) process.stdout.write(`build/packed/${file}\n`)
}

/**
 * Packs what was built into a folder. No registry is asked.
 *
 * @returns {{ name: string, file: string }[]} The name of each package, and its file in the folder.
 */
export function packInto(folder) {
  // The output of `prepack` would mix with the JSON.
  const args = ['pack', '--json', '--foreground-scripts=false', '--pack-destination', folder]
  const { stdout, status } = spawnSync(
    'npm',
    [...args, ...PACKAGES.map((name) => `./packages/${name}`)],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 2],
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      // On Windows npm is a .cmd file, which only a shell can start.
      shell: process.platform === 'win32',
    },
  )
  if (status !== 0) throw new Error(`npm pack ended with status ${status}`)
  return JSON.parse(stdout).map(({ name, filename }) => ({ name, file: filename }))
}
