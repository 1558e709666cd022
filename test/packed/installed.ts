import { inject } from 'vitest'

/** The path of one packed package. */
export function tarball(name: string): string {
  const path = inject('tarballs')[name]
  if (path === undefined) throw new Error(`${name} is not packed: add it to tools/pack.mjs`)
  return path
}
