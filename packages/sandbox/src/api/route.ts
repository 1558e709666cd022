import { isPodStream, type Pods } from '../pods/pods.ts'
import { headersOf } from '../server/exchange.ts'
import type { Answer } from '../server/send.ts'
import type { Call, Outcome, ResourceCall } from './call.ts'
import { discover } from './discovery.ts'
import type { ObjectStore } from './object-store.ts'
import { answerProxied, isProxied, type Proxied } from './proxy.ts'
import { findObject, listObjects } from './read-objects.ts'
import { methodNotAllowed, pathNotFound } from './request-errors.ts'
import { RESOURCES, type Resource } from './resources.ts'
import { reviewSelfSubject } from './self-subject-review.ts'
import { watchObjects } from './watch.ts'
import { createObject, deleteObject, patchObject, updateObject } from './write-objects.ts'

/** The parts of the API. */
export interface Api {
  readonly store: ObjectStore
  readonly pods: Pods
  readonly bookmarkIntervalMs: number
  readonly proxied?: Proxied
}

/** Dispatches a call to its handler. */
export async function route(call: Call, api: Api): Promise<Outcome> {
  const { info } = call
  return info.kind === 'path' ? routePath(call) : routeResource({ ...call, info }, api)
}

function routePath({ method, url, request }: Call): Answer {
  const path = url.pathname.replace(/(.)\/$/, '$1')
  const body = discover(path, headersOf(request).host ?? '')
  if (body === undefined) throw pathNotFound()
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed()
  return { status: 200, body }
}

async function routeResource(call: ResourceCall, api: Api): Promise<Outcome> {
  const { group, version, resource: name, subresource } = call.info
  if (isProxied(call)) return answerProxied(call, api.proxied)
  if (isPodStream(call)) return api.pods.answer(call)
  if (`${group}/${version}/${name}` === 'authentication.k8s.io/v1/selfsubjectreviews') {
    if (call.method !== 'POST') throw methodNotAllowed()
    return reviewSelfSubject(call)
  }
  const resource = RESOURCES.find((known) => known.name === name)
  const isCore = group === '' && version === 'v1' && subresource === undefined
  if (!isCore || resource === undefined || isWrongScope(call, resource)) throw pathNotFound()
  return routeObject(call, resource, api)
}

/** Whether the path does not fit the scope of the resource: a namespaced object without a namespace, or the reverse. */
function isWrongScope({ info, url }: ResourceCall, { namespaced }: Resource): boolean {
  if (namespaced) return info.name !== undefined && info.namespace === undefined
  return !url.pathname.startsWith('/api/v1/namespaces')
}

async function routeObject(call: ResourceCall, resource: Resource, api: Api): Promise<Outcome> {
  const { verb } = call.info
  const isScoped = !resource.namespaced || call.info.namespace !== undefined
  if (!resource.verbs.includes(verb) || (verb === 'create' && !isScoped)) throw methodNotAllowed()
  if (verb === 'create' && call.info.name !== undefined) throw methodNotAllowed()
  switch (verb) {
    case 'list':
      return listObjects(call, resource, api.store)
    case 'watch':
      return watchObjects(call, resource, api.store, api)
    case 'get':
      return { status: 200, body: findObject(call, api.store) }
    case 'create':
      return createObject(call, resource, api.store)
    case 'update':
      return updateObject(call, resource, api.store)
    case 'patch':
      return patchObject(call, resource, api.store)
    case 'delete':
      return deleteObject(call, resource, api.store)
    default:
      throw methodNotAllowed()
  }
}
