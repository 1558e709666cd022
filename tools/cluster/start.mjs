// `node tools/cluster/start.mjs`: starts a real cluster on this machine for manual tests. Prints one line of JSON when it
// is ready (KUBECONFIG, server, a token, the path of kubectl), and runs until Ctrl-C.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { findPrograms } from './find-programs.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

try {
  const programs = await findPrograms((line) => process.stderr.write(`cluster: ${line}\n`))
  const { runByHand } = await loadHarness()
  await runByHand(programs)
} catch (error) {
  process.stderr.write(`cluster: ${error.message}\n`)
  process.exitCode = 1
}

/** Bundles the harness, because Node 20 cannot run TypeScript. The bundle is inside the tree, where packages are found. */
async function loadHarness() {
  const folder = mkdtempSync(join(root, 'node_modules/.cluster-'))
  try {
    const outfile = join(folder, 'harness.mjs')
    await build({
      entryPoints: [join(root, 'test/cluster/harness/by-hand.ts')],
      outfile,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'warning',
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
