import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of each packed package, by its name. */
    readonly tarballs: Readonly<Record<string, string>>
  }
}

interface Packer {
  packInto(folder: string): { readonly name: string; readonly file: string }[]
}

/** Packs the built packages once for all test files. */
export async function setup({ provide }: TestProject): Promise<() => void> {
  const { packInto }: Packer = await import(new URL('../../tools/pack.mjs', import.meta.url).href)
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-tarballs-'))
  const packed = packInto(folder).map(({ name, file }) => [name, join(folder, file)])
  provide('tarballs', Object.fromEntries(packed))
  return () => rmSync(folder, { recursive: true, force: true })
}
