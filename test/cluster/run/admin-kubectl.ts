import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestCluster } from '../harness/test-cluster.ts'

/** The manifests of this repository. */
export const MANIFESTS = fileURLToPath(new URL('../../../deploy/kubernetes', import.meta.url))

/** Runs kubectl as administrator; warnings are errors. */
export function adminKubectl({ facts }: TestCluster, ...args: string[]): string {
  const { kubeconfig, programs, folder } = facts
  const all = ['--kubeconfig', kubeconfig, '--cache-dir', join(folder, 'cache')]
  const { status, stdout, stderr } = spawnSync(
    programs.kubectl,
    [...all, '--warnings-as-errors', ...args],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

/** An object as kustomize renders it. */
export interface Rendered {
  readonly kind: string
  readonly metadata: { readonly name: string }
  // biome-ignore lint/suspicious/noExplicitAny: a specification of any kind.
  readonly spec: any
  /** Of a role. */
  readonly rules?: readonly object[]
}

/** Returns what kustomize makes of a folder of the manifests. */
export function render(cluster: TestCluster, folder: string): readonly Rendered[] {
  const path = join(MANIFESTS, folder)
  const text = adminKubectl(cluster, 'apply', '--dry-run=client', '-o', 'json', '-k', path)
  return JSON.parse(text).items
}
