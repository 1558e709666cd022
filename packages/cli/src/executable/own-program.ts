import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'

/** Returns the command that starts `kubecred` again, to which arguments can be added. */
export function ownCommand(): string[] {
  return isSea() ? [process.execPath] : [process.execPath, inPackage('bin/kubecred.cjs')]
}

/** Returns the path of `kubecred-token`; undefined if the link beside the single executable was left out. */
export function tokenProgram(): string | undefined {
  if (!isSea()) return inPackage('bin/kubecred-token.cjs')
  const link = join(dirname(process.execPath), 'kubecred-token')
  return existsSync(link) ? link : undefined
}

/** Returns the path of a file of this package. The sources are two folders deep, as are the bundles. */
function inPackage(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}
