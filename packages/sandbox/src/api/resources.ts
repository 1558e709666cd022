/** A resource that the sandbox serves, as in discovery. */
export interface Resource {
  readonly name: string
  readonly singularName: string
  readonly shortNames: readonly string[]
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']

/** The resources of the core group. */
export const RESOURCES: readonly Resource[] = [
  {
    name: 'namespaces',
    singularName: 'namespace',
    shortNames: ['ns'],
    kind: 'Namespace',
    namespaced: false,
    verbs: VERBS,
  },
  {
    name: 'configmaps',
    singularName: 'configmap',
    shortNames: ['cm'],
    kind: 'ConfigMap',
    namespaced: true,
    verbs: VERBS,
  },
  {
    name: 'pods',
    singularName: 'pod',
    shortNames: ['po'],
    kind: 'Pod',
    namespaced: true,
    verbs: VERBS,
  },
]
