import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A kubectl on this machine. */
export interface Kubectl {
  readonly path: string
  /** Such as `v1.20.2`. */
  readonly version: string
  /** The newest version of the plugin protocol that it supports. */
  readonly apiVersion: string
}

/** Where tools/debian-kubectl.mjs unpacks it. */
const DEBIAN = fileURLToPath(
  new URL(
    '../../../../node_modules/.cache/kubecred/debian-kubectl/usr/bin/kubectl',
    import.meta.url,
  ),
)

/** The one in PATH. */
export const usualKubectl = (): Kubectl | undefined => look('kubectl')

/** The one that Debian ships, which is old. */
export const debianKubectl = (): Kubectl | undefined => look(DEBIAN)

/** The one that was built for the cluster suite. */
export function builtKubectl(): Kubectl | undefined {
  const cache = join(
    process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
    'kubecred',
    'cluster',
  )
  const built = existsSync(cache) ? readdirSync(cache).map((name) => join(cache, name)) : []
  const folders = [process.env['KUBEBUILDER_ASSETS'] ?? [], built].flat()
  const files = folders.flatMap((folder) => [join(folder, 'kubectl'), join(folder, 'bin/kubectl')])
  const found = files.filter((file) => existsSync(file)).flatMap((file) => look(file) ?? [])
  return found.sort((a, b) => minorOf(b.version) - minorOf(a.version))[0]
}

function look(path: string): Kubectl | undefined {
  const { status, stdout } = spawnSync(path, ['version', '--client'], { encoding: 'utf8' })
  const version = /\bv\d+\.\d+\.\d+/.exec(stdout ?? '')?.[0]
  if (status !== 0 || version === undefined) return undefined
  const isOld = minorOf(version) < 22
  return { path, version, apiVersion: `client.authentication.k8s.io/${isOld ? 'v1beta1' : 'v1'}` }
}

function minorOf(version: string): number {
  return Number(version.split('.')[1])
}
