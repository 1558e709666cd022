import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkKubeconfigOptions } from './check-kubeconfig-options.ts'
import type { KubeconfigOptions } from './kubeconfig-options.ts'
import { renderKubeconfig } from './render-kubeconfig.ts'

/** The server that a kubeconfig names, and the folder for a kubeconfig without a path. */
export interface KubeconfigTarget {
  readonly url: string
  readonly caPem: string
  readonly folder: string
}

/**
 * Writes a kubeconfig with mode 0600, and returns its path.
 *
 * @throws {TypeError} A field is unknown; nothing is written.
 */
export function writeKubeconfig(options: KubeconfigOptions, target: KubeconfigTarget): string {
  checkKubeconfigOptions(options)
  const name = `kubeconfig-${randomBytes(4).toString('hex')}.json`
  const path = options.path ?? join(target.folder, name)
  writeFileSync(path, renderKubeconfig(options, target.url, target.caPem), { mode: 0o600 })
  return path
}
