import type { KubeObject } from './kube-object.ts'

/** A change of an object. */
export interface Change {
  readonly version: number
  readonly resource: string
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: KubeObject
  /** The object before the change; absent if it is new. */
  readonly previous?: KubeObject
}

const DEFAULT_WINDOW = 1000

/** Objects in memory, with one version counter for all, as in etcd, and a window of the last changes. */
export class ObjectStore {
  readonly #objects = new Map<string, KubeObject>()
  readonly #watchers = new Set<(change: Change) => void>()
  readonly #window: number
  #version = 0
  #changes: Change[] = []
  /** The version of the last change that has left the window. */
  #compactedVersion = 0

  constructor(window = DEFAULT_WINDOW) {
    this.#window = window
  }

  get version(): number {
    return this.#version
  }

  get(resource: string, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#objects.get(keyOf(resource, namespace, name))
  }

  /** Lists objects sorted by namespace and name; those of all namespaces if none is given. */
  list(resource: string, namespace?: string): readonly KubeObject[] {
    const prefix = namespace === undefined ? `${resource}/` : `${resource}/${namespace}/`
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort()
    return keys.flatMap((key) => this.#objects.get(key) ?? [])
  }

  /** Creates or replaces an object, and returns it with its new version. */
  put(resource: string, object: KubeObject): KubeObject {
    const { namespace, name } = object.metadata
    const key = keyOf(resource, namespace, name)
    const previous = this.#objects.get(key)
    const stored = this.#withNextVersion(object)
    this.#objects.set(key, stored)
    this.#publish(resource, previous === undefined ? 'ADDED' : 'MODIFIED', stored, previous)
    return stored
  }

  /** Deletes an object, and returns it with the version of the deletion. */
  delete(resource: string, object: KubeObject): KubeObject {
    const { namespace, name } = object.metadata
    this.#objects.delete(keyOf(resource, namespace, name))
    const last = this.#withNextVersion(object)
    this.#publish(resource, 'DELETED', last, object)
    return last
  }

  /** Lists the changes after a version; undefined if some of them have left the window. */
  changesSince(version: number): readonly Change[] | undefined {
    if (version < this.#compactedVersion) return undefined
    return this.#changes.filter((change) => change.version > version)
  }

  /** Calls `watcher` for every later change, until the returned function is called. */
  subscribe(watcher: (change: Change) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  #withNextVersion(object: KubeObject): KubeObject {
    this.#version += 1
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) }
    return { ...object, metadata }
  }

  #publish(
    resource: string,
    type: Change['type'],
    object: KubeObject,
    previous: KubeObject | undefined,
  ): void {
    const before = previous === undefined ? {} : { previous }
    const change = { version: this.#version, resource, type, object, ...before }
    this.#changes.push(change)
    while (this.#changes.length > this.#window) {
      this.#compactedVersion = this.#changes.shift()?.version ?? this.#compactedVersion
    }
    for (const watcher of this.#watchers) watcher(change)
  }
}

function keyOf(resource: string, namespace: string | undefined, name: string): string {
  return namespace === undefined ? `${resource}/${name}` : `${resource}/${namespace}/${name}`
}
