/** One kind of object that the sandbox keeps. */
export interface Resource {
  readonly name: string
  readonly singularName: string
  readonly shortNames: readonly string[]
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

const READ = ['get', 'list', 'watch']
const WRITE = ['create', 'delete', 'patch', 'update']

/** Everything in the core group. Pods can be listed, but there are none. */
export const RESOURCES: readonly Resource[] = [
  {
    name: 'namespaces',
    singularName: 'namespace',
    shortNames: ['ns'],
    kind: 'Namespace',
    namespaced: false,
    verbs: [...WRITE, ...READ],
  },
  {
    name: 'configmaps',
    singularName: 'configmap',
    shortNames: ['cm'],
    kind: 'ConfigMap',
    namespaced: true,
    verbs: [...WRITE, ...READ],
  },
  {
    name: 'pods',
    singularName: 'pod',
    shortNames: ['po'],
    kind: 'Pod',
    namespaced: true,
    verbs: READ,
  },
]
