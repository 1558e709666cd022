// Removes from each `dist` the output of sources that were moved or removed: the compiler leaves it there, and it would be
// packed. The bundlers empty their own folders.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../packages', import.meta.url))

for (const name of readdirSync(packages)) {
  const dist = join(packages, name, 'dist')
  if (!existsSync(dist)) continue
  for (const file of readdirSync(dist, { recursive: true })) {
    const [, made] = /^(?!bundle[\\/])(.*?)(?:\.d\.ts|\.js)$/.exec(file) ?? []
    if (made === undefined || existsSync(join(packages, name, 'src', `${made}.ts`))) continue
    rmSync(join(dist, file))
  }
}
