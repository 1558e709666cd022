import type { Answer } from '../server/send.ts'
import { StatusError } from '../server/status.ts'
import type { ResourceCall } from './call.ts'
import type { KubeObject } from './kube-object.ts'
import type { ObjectStore } from './object-store.ts'
import type { Resource } from './resources.ts'
import { parseSelectors } from './selectors.ts'

/** Finds one object; throws the 404 of kube-apiserver. */
export function findObject(call: ResourceCall, store: ObjectStore): KubeObject {
  const { resource, name = '' } = call.info
  const object = store.get(resource, scopeOf(call), name)
  if (object === undefined) throw objectNotFound(resource, name)
  return object
}

/** Says that an object is not there. */
export function objectNotFound(resource: string, name: string): StatusError {
  return new StatusError('NotFound', `${resource} "${name}" not found`, { name, kind: resource })
}

/** The namespace that a call is limited to. A namespace itself is in none. */
export function scopeOf({ info }: ResourceCall): string | undefined {
  return info.resource === 'namespaces' ? undefined : info.namespace
}

/** Lists objects, a page at a time if the client asks for that. */
export function listObjects(call: ResourceCall, resource: Resource, store: ObjectStore): Answer {
  const query = call.url.searchParams
  const matching = store.list(resource.name, scopeOf(call)).filter(parseSelectors(query))
  const start = readContinue(query.get('continue'))
  const limit = Number(query.get('limit') ?? 0)
  const end = limit > 0 ? start + limit : matching.length
  const left = matching.length - end
  return {
    status: 200,
    body: {
      kind: `${resource.kind}List`,
      apiVersion: 'v1',
      metadata: {
        resourceVersion: String(store.version),
        ...(left > 0 ? { continue: writeContinue(end), remainingItemCount: left } : {}),
      },
      items: matching.slice(start, end).map(({ kind: _, apiVersion: __, ...item }) => item),
    },
  }
}

function writeContinue(start: number): string {
  return Buffer.from(JSON.stringify({ v: 'sandbox', start })).toString('base64url')
}

function readContinue(token: string | null): number {
  if (token === null || token === '') return 0
  try {
    const { v, start } = JSON.parse(Buffer.from(token, 'base64url').toString())
    if (v === 'sandbox' && Number.isSafeInteger(start) && start >= 0) return start
  } catch {
    // Falls through to the same answer as a token of the wrong shape.
  }
  throw new StatusError('BadRequest', 'continue key is not valid')
}
