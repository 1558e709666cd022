import { spawnSync } from 'node:child_process'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Running } from '../../../packages/cli/test/spawn-program.ts'
import type { TestCluster } from '../harness/test-cluster.ts'

const TREE = fileURLToPath(new URL('../../..', import.meta.url))

/** A mount namespace and another user both need root. */
export const canBePod =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0 &&
  spawnSync('setpriv', ['--version']).status === 0
export const NEEDS_POD = 'needs Linux, and root that may mount'

export interface PodProcess {
  /** Folders of this machine by their path in the pod. */
  readonly mounts: Readonly<Record<string, string>>
  /** `runAsUser`, `runAsGroup`, and the pod's `fsGroup`. */
  readonly ids: {
    readonly user: number
    readonly group: number
    readonly more?: number | undefined
  }
  /** A script of the tree: its absolute or relative path. */
  readonly script: string
  readonly args: readonly string[]
  /** Modules of the tree that Node loads before the script. */
  readonly preload?: readonly string[]
  readonly cluster: TestCluster
}

/**
 * Runs a script of this tree like in a container: with its own mounts, a read-only root, an empty /etc, an unnamed and
 * unprivileged user, and the environment of a pod. Only the network is the machine's.
 */
export function startInPod({
  mounts,
  ids,
  script,
  args,
  preload = [],
  cluster,
}: PodProcess): Running {
  const { hostname, port } = new URL(cluster.facts.access.server)
  const binds = Object.entries(mounts).map(([there, here]) => `${here}=${there}`)
  const { user, group, more } = ids
  const groups = more === undefined ? '--clear-groups' : `--groups=${more}`
  const command = [
    ...['setpriv', `--reuid=${user}`, `--regid=${group}`, groups],
    ...['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'],
    ...['env', '-i', 'PATH=/usr/local/bin:/usr/bin:/bin', 'HOME=/', 'NODE_ENV=production'],
    ...[`KUBERNETES_SERVICE_HOST=${hostname}`, `KUBERNETES_SERVICE_PORT=${port}`],
    '/run/of-pod/node',
    ...preload.flatMap((module) => ['--import', inPod(module)]),
    ...[inPod(script), ...args],
  ]
  const all = [MAKE_POD, 'sh', TREE, process.execPath, String(binds.length), ...binds, ...command]
  return new Running('unshare', ['-m', 'sh', '-ec', ...all])
}

/** Returns the path of a file of the tree in the pod. */
function inPod(path: string): string {
  return `/run/of-pod/tree/${relative(TREE, resolve(TREE, path))}`
}

/** Mounts the tree and Node where every user may read them, even if they are in a private folder of the machine. */
const MAKE_POD = `
tree=$1 node=$2 count=$3; shift 3
run=$(readlink -f /var/run)
mount -t tmpfs tmpfs "$run"; mount -t tmpfs tmpfs /etc
[ "$run" = /run ] || mount -t tmpfs tmpfs /run
mkdir -p /run/of-pod/tree; touch /run/of-pod/node
mount --bind "$tree" /run/of-pod/tree; mount --bind "$node" /run/of-pod/node
while [ "$count" -gt 0 ]; do
  mkdir -p "\${1#*=}"; mount --bind "\${1%%=*}" "\${1#*=}"
  shift; count=$((count - 1))
done
mount -t tmpfs -o size=16m tmpfs /tmp
mount -o remount,bind,ro /
cd /
exec "$@"
`
