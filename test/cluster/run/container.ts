import type { Running } from '../../../packages/cli/test/spawn-program.ts'
import type { TestCluster } from '../harness/test-cluster.ts'
import { startInPod } from './pod-process.ts'
import { ProjectedVolume } from './projected-volume.ts'

/** The used part of a pod's spec, with the defaults of the API server. */
export interface PodSpec {
  readonly initContainers?: readonly Container[]
  readonly containers: readonly Container[]
  readonly volumes?: readonly Volume[]
  readonly securityContext?: Ids & { readonly fsGroup?: number }
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly args?: readonly string[]
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
  readonly securityContext?: Ids
}

interface Ids {
  readonly runAsUser?: number
  readonly runAsGroup?: number
}

interface Volume {
  readonly name: string
  readonly projected?: { readonly defaultMode: number }
  readonly secret?: { readonly secretName: string; readonly defaultMode: number }
}

/** Returns the containers that run our image. */
export function ownContainers({ initContainers = [], containers }: PodSpec): Container[] {
  return [...initContainers, ...containers].filter(({ image }) => /^kubecred\/proxy:/.test(image))
}

/** The contents of each volume, by mount path. */
type Contents = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The line that our container prints when it has started. */
interface Started {
  readonly running: Running
  readonly url: string
  readonly healthUrl: string
}

/** Starts our container by its manifest: arguments, user, groups, files. Its ports are free ones. */
export async function startContainer(
  cluster: TestCluster,
  pod: PodSpec,
  container: Container,
  contents: Contents,
): Promise<Started> {
  const { fsGroup: more } = pod.securityContext ?? {}
  const { runAsUser: user, runAsGroup: group = 0 } = {
    ...pod.securityContext,
    ...container.securityContext,
  }
  if (user === undefined) throw new Error(`${container.name} does not say as whom it runs`)
  const mounts: Record<string, string> = {}
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const volume = pod.volumes?.find((each) => each.name === name)
    const mode = (volume?.projected ?? volume?.secret)?.defaultMode
    if (mode === undefined) continue
    const made = new ProjectedVolume(cluster.folder('volume'), { mode, group: more })
    mounts[mountPath] = made.write(contents[mountPath] ?? {}).folder
  }
  const args = (container.args ?? []).map((arg) => arg.replace(/^(--\S*port)=\d+$/, '$1=0'))
  const running = startInPod({
    cluster,
    mounts,
    ids: { user, group, more },
    script: 'packages/cli/bin/kubecred.cjs',
    args: [...args, '-o', 'json'],
  })
  const [line] = await running.until('out', /^.*\n/)
  const { port, url, healthPort } = JSON.parse(line)
  const scheme = new URL(url).protocol
  return {
    running,
    url: `${scheme}//127.0.0.1:${port}`,
    healthUrl: `http://127.0.0.1:${healthPort}`,
  }
}
