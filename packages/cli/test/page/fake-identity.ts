import type { Cluster, CredentialEvent, KeeperStatus, SourceLabel } from 'kubecred'
import type { LiveState } from '../../src/page/live-state.ts'

type WithoutSource<E> = E extends CredentialEvent ? Omit<E, 'source'> : never

/** An identity whose connection is only played: for what a real one does not do on command. */
export function playIdentity(
  state: LiveState,
  id: string,
  { title = id, ...credential }: Partial<KeeperStatus> & { title?: string } = {},
) {
  const source: SourceLabel = { kind: 'exec', name: '/usr/bin/get-token' }
  const shown = state.identity(id, title)
  const calls: string[] = []
  const cluster = {
    status: () => ({
      server: 'https://10.0.0.1:6443',
      namespace: 'default',
      credential: { source, state: 'ready', runs: 1, ...credential },
    }),
    renew: async () => void calls.push('renew'),
    forget: () => void calls.push('forget'),
  }
  shown.attach(cluster as unknown as Cluster)
  return {
    ...shown,
    source,
    /** What the page asked of it. */
    calls,
    tell: (event: WithoutSource<CredentialEvent>) =>
      shown.observer({ source, ...event } as CredentialEvent),
  }
}
