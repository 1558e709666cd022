// Writes the results of the comparison with kubectl and client-go into docs/compatibility.md. Run it after a change of
// conformance/differential; a test fails if the page is outdated.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const BEGIN = '<!-- Written by tools/compatibility-page.mjs. Do not edit. -->'
const END = '<!-- Until here. -->'

/** Returns the page with the report inserted. */
export function withReport(page, report) {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error('docs/compatibility.md has no place for the report')
  return `${page.slice(0, begin)}${BEGIN}\n\n${report}\n\n${page.slice(end)}`
}

/** Bundles the cases, because Node 20 cannot run TypeScript. The bundle is inside the tree, where packages are found. */
async function loadReport() {
  const { build } = await import('esbuild')
  const folder = mkdtempSync(join(root, 'conformance/differential/.report-'))
  try {
    const outfile = join(folder, 'report.mjs')
    await build({
      entryPoints: [join(root, 'conformance/differential/report.ts')],
      outfile,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'warning',
      plugins: [{ name: 'stay-in-place', setup: stayInPlace }],
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Keeps `import.meta.url` of each file, so that relative paths work in the bundle. */
function stayInPlace({ onLoad }) {
  onLoad({ filter: /\.ts$/ }, ({ path }) => {
    const place = JSON.stringify(pathToFileURL(path).href)
    const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', place)
    return { contents, loader: 'ts' }
  })
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { report } = await loadReport()
  const page = join(root, 'docs/compatibility.md')
  writeFileSync(page, withReport(readFileSync(page, 'utf8'), report()))
}
