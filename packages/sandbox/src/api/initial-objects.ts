import { randomUUID } from 'node:crypto'
import { timestamp } from './kube-object.ts'
import { ObjectStore } from './object-store.ts'

const NAMESPACES = ['default', 'kube-system', 'kube-public']

/** Creates a store with the namespaces that every cluster has. */
export function createStore(window: number | undefined, now: number): ObjectStore {
  const store = new ObjectStore(window)
  for (const name of NAMESPACES) {
    store.put('namespaces', {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: {
        name,
        uid: randomUUID(),
        resourceVersion: '',
        creationTimestamp: timestamp(now),
        labels: { 'kubernetes.io/metadata.name': name },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
  }
  return store
}
