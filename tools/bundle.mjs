// Makes one file of what kubecred-token needs when the agent answers at once: to load forty files takes longer than
// to ask. What is imported only when it is needed stays where the compiler put it.
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const dist = fileURLToPath(new URL('../packages/cli/dist', import.meta.url))
const outfile = join(dist, 'kubecred-token.cjs')

await build({
  entryPoints: [join(dist, 'token-program/main.js')],
  outfile,
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
  plugins: [
    {
      name: 'later',
      setup(building) {
        building.onResolve({ filter: /./ }, ({ path, kind, importer }) => {
          // The start of an agent is part of the file, but runs only when it is needed.
          const isInside = path.startsWith('node:') || path.endsWith('/start-agent.js')
          if (kind !== 'dynamic-import' || isInside) return undefined
          const file = resolve(dirname(importer), path)
          return { path: `./${relative(dirname(outfile), file)}`, external: true }
        })
      },
    },
  ],
})
