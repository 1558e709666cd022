import type { Cluster, CredentialEvent, KeeperStatus, SourceLabel } from 'kubecred'
import type { LiveState } from '../../src/page/live-state.ts'

type WithoutSource<E> = E extends CredentialEvent ? Omit<E, 'source'> : never

/** Adds an identity with a fake connection, for states that a real one does not reach on demand. */
export function addFakeIdentity(
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
    /** The methods that the page called. */
    calls,
    emit: (event: WithoutSource<CredentialEvent>) =>
      shown.observer({ source, ...event } as CredentialEvent),
  }
}
