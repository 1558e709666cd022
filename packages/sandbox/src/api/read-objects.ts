import type { Answer } from '../server/send.ts'
import { StatusError } from '../server/status.ts'
import type { ResourceCall } from './call.ts'
import type { KubeObject } from './kube-object.ts'
import type { ObjectStore } from './object-store.ts'
import type { Resource } from './resources.ts'
import { parseSelectors } from './selectors.ts'

/**
 * Finds the object of a call.
 *
 * @throws {StatusError} 404, as kube-apiserver.
 */
export function findObject(call: ResourceCall, store: ObjectStore): KubeObject {
  const { resource, name = '' } = call.info
  const object = store.get(resource, scopeOf(call), name)
  if (object === undefined) throw objectNotFound(resource, name)
  return object
}

/** Creates the 404 error for an object that does not exist. */
export function objectNotFound(resource: string, name: string): StatusError {
  return new StatusError('NotFound', `${resource} "${name}" not found`, { name, kind: resource })
}

/** Returns the namespace that a call is limited to. Namespaces themselves are cluster-scoped. */
export function scopeOf({ info }: ResourceCall): string | undefined {
  return info.resource === 'namespaces' ? undefined : info.namespace
}

/** Lists objects, in pages if the request has a `limit`. */
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
    // Rejected below, like a token with the wrong fields.
  }
  throw new StatusError('BadRequest', 'continue key is not valid')
}
