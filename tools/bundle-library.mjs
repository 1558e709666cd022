// Bundles the compiled files of the libraries, kubecred and @kubecred/sandbox: one file per subpath, and some shared ones.
// Loading a hundred files takes longer than running them.
//
// rollup keeps the code as the compiler wrote it, with its comments and names, for stack traces and debuggers. All subpaths
// are bundled together, so that a class is the same one by whichever subpath it is imported. What is loaded by `import()`
// stays in its own file.
import { readFileSync, rmSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rollup } from 'rollup'

const LIBRARIES = ['core', 'sandbox']

for (const name of LIBRARIES) {
  await bundle(fileURLToPath(new URL(`../packages/${name}`, import.meta.url)))
}

async function bundle(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const entries = Object.values(exports).filter((target) => target.types !== undefined)
  const dir = join(folder, 'dist/bundle')
  rmSync(dir, { recursive: true, force: true })
  const made = await rollup({
    input: Object.fromEntries(
      entries.map((target) => [
        /^\.\/dist\/bundle\/(.*)\.js$/.exec(target.default)[1],
        join(folder, target.types.replace(/\.d\.ts$/, '.js')),
      ]),
    ),
    external: (path) => !path.startsWith('.') && !isAbsolute(path),
    // No tree-shaking of statements: rollup evaluates values to drop branches, and takes a parameter for a constant if the
    // calls come through `import()`.
    treeshake: false,
    onwarn(warning) {
      // Harmless: helper functions of the compiler begin with `this && this.`.
      if (warning.code !== 'THIS_IS_UNDEFINED') throw new Error(warning.message)
    },
  })
  await made.write({
    dir,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name].js',
    minifyInternalExports: false,
    // Not needed for speed; without it, files import only what they use.
    hoistTransitiveImports: false,
  })
  await made.close()
}
