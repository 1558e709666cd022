import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkKubeconfigOptions } from './check-kubeconfig-options.ts'
import type { KubeconfigOptions } from './kubeconfig-options.ts'
import { renderKubeconfig } from './render-kubeconfig.ts'

/** Where a kubeconfig leads, and where it goes if its options do not say. */
export interface KubeconfigTarget {
  readonly url: string
  readonly caPem: string
  readonly folder: string
}

/**
 * Writes a kubeconfig that only its owner can read, and returns its path.
 *
 * @throws {TypeError} A field does not exist. Nothing was written.
 */
export function writeKubeconfig(options: KubeconfigOptions, target: KubeconfigTarget): string {
  checkKubeconfigOptions(options)
  const name = `kubeconfig-${randomBytes(4).toString('hex')}.json`
  const path = options.path ?? join(target.folder, name)
  writeFileSync(path, renderKubeconfig(options, target.url, target.caPem), { mode: 0o600 })
  return path
}
