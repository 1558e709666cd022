import { posix } from 'node:path'
import { type BuildContext, buildConnection } from '../../src/kubeconfig/build-connection.ts'
import type { Connection } from '../../src/kubeconfig/connection.ts'
import { type Kubeconfig, mergeKubeconfigs } from '../../src/kubeconfig/kubeconfig.ts'
import type { Overrides } from '../../src/kubeconfig/overrides.ts'
import { parseKubeconfig } from '../../src/kubeconfig/parse-kubeconfig.ts'
import type { Paths } from '../../src/kubeconfig/paths.ts'

export const FILE = '/home/ann/.kube/config'

const POSIX: Paths = {
  separator: posix.sep,
  isAbsolute: posix.isAbsolute,
  join: posix.join,
  dirname: posix.dirname,
}

export const AROUND: BuildContext = { paths: POSIX, cwd: '/here' }

export const EMPTY: Kubeconfig = mergeKubeconfigs([])

/** Returns a kubeconfig with one context `c`, cluster `k` and user `u`. */
export function configWith(parts: {
  cluster?: object
  user?: object
  context?: object
}): Kubeconfig {
  return parseKubeconfig(
    {
      clusters: [{ name: 'k', cluster: { server: 'https://k.example', ...parts.cluster } }],
      users: [{ name: 'u', user: parts.user ?? {} }],
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', ...parts.context } }],
      'current-context': 'c',
    },
    FILE,
  )
}

export function connectionWith(
  parts: { cluster?: object; user?: object; context?: object },
  overrides: Overrides = {},
  around: BuildContext = AROUND,
): Connection {
  return buildConnection(configWith(parts), overrides, around)
}

/** Returns the error that `work` throws. */
export function thrownBy(work: () => unknown): Error & { code?: string; hint?: string } {
  try {
    work()
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
