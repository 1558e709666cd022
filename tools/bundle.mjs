// Makes one file of what kubecred-token needs when the agent answers at once: to load forty files takes longer than
// to ask. What is imported only when it is needed stays where the compiler put it; the start of an agent is a file of
// its own, because many may need it at the same time, and so is what the error codes mean.
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const dist = fileURLToPath(new URL('../packages/cli/dist', import.meta.url))
const errors = fileURLToPath(new URL('../packages/core/dist/errors', import.meta.url))
const CODES = './error-codes.cjs'

await bundle(join(dist, 'token-program/main.js'), 'kubecred-token.cjs', [leaveForLater, leaveCodes])
await bundle(join(dist, 'agent/start-agent.js'), 'start-agent.cjs', [leaveForLater, leaveCodes])
await bundle(join(errors, 'codes.js'), CODES, [])

async function bundle(from, to, setups) {
  await build({
    entryPoints: [from],
    outfile: join(dist, to),
    bundle: true,
    format: 'cjs',
    define: { 'import.meta.url': 'ownUrl' },
    banner: { js: "const ownUrl='file://'+encodeURI(__filename);" },
    platform: 'node',
    target: 'node20',
    minify: true,
    // What was compiled is what is bundled; the paths of the workspace lead to the sources.
    tsconfigRaw: {},
    sourcemap: false,
    logLevel: 'warning',
    plugins: setups.map((setup) => ({ name: setup.name, setup })),
  })
}

function leaveForLater(building) {
  building.onResolve({ filter: /./ }, ({ path, kind, importer }) => {
    if (path === 'node:process') return { path, namespace: 'global' }
    if (kind !== 'dynamic-import' || path.startsWith('node:')) return undefined
    if (path.endsWith('/start-agent.js')) return { path: './start-agent.cjs', external: true }
    return { path: `./${relative(dist, resolve(dirname(importer), path))}`, external: true }
  })
  // To make a module of it, all its members would be copied, and again in each file that imports it.
  building.onLoad({ filter: /./, namespace: 'global' }, () => ({
    contents: 'export default globalThis.process',
  }))
}

/** What the error codes mean is needed only when there is an error. */
function leaveCodes(building) {
  building.onResolve({ filter: /error-codes\.cjs$/ }, () => ({ path: CODES, external: true }))
  building.onLoad({ filter: /errors\/codes\.js$/ }, () => ({
    contents: `export const CODES = new Proxy({}, { get: (_, code) => require('${CODES}').CODES[code] })`,
  }))
}
