import { nodeCrypto } from '../../node/node-crypto.ts'
import type {
  ClusterLike,
  ContextLike,
  ReadableKubeConfig,
  UserLike,
} from './readable-kube-config.ts'

/** What a KubeConfig says at one moment: a copy, because programs change theirs while requests are on the way. */
export interface Selection {
  /** Equal for selections that mean the same. A digest, because they hold secrets. */
  readonly key: string
  readonly currentContext: string | undefined
  readonly context: ContextLike | undefined
  readonly cluster: ClusterLike | undefined
  readonly user: UserLike | undefined
}

/** What a KubeConfig says now, as text that is the same while it says the same. It holds secrets. */
export function describeSelection(kc: ReadableKubeConfig): string {
  const name = kc.getCurrentContext()
  const parts = [name, kc.getContextObject(name), kc.getCurrentCluster(), kc.getCurrentUser()]
  return JSON.stringify(parts)
}

/** Makes a selection of its text. */
export function parseSelection(text: string): Selection {
  const [name, context, cluster, user] = JSON.parse(text) as [
    string | null,
    ContextLike | null,
    ClusterLike | null,
    UserLike | null,
  ]
  return {
    key: nodeCrypto.digest(text),
    currentContext: name ?? undefined,
    context: context ?? undefined,
    cluster: cluster ?? undefined,
    user: user ?? undefined,
  }
}
