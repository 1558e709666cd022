// Makes the JavaScript of the libraries, kubecred and @kubecred/sandbox: one file per subpath and some that they share,
// of the compiled files. To load a hundred files takes longer than to run them.
//
// rollup, because it keeps the code as the compiler wrote it, with its comments and names: people read stacks and step
// through it. All subpaths are made at once, so that a class is the same one by whichever subpath it is imported. What is
// loaded by `import()` stays in a file of its own.
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
    // Statements stay as they are: rollup computes values to drop branches, and takes a parameter for a constant when
    // the calls come through `import()`.
    treeshake: false,
    onwarn(warning) {
      // A helper function of the compiler begins with `this && this.`, and does without.
      if (warning.code !== 'THIS_IS_UNDEFINED') throw new Error(warning.message)
    },
  })
  await made.write({
    dir,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name].js',
    minifyInternalExports: false,
    // Node follows imports fast enough; files name only what they use.
    hoistTransitiveImports: false,
  })
  await made.close()
}
