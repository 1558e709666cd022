import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { readBody, readJson } from '../server/read-body.ts'
import type { Answer } from '../server/send.ts'
import { StatusError } from '../server/status.ts'
import type { ResourceCall } from './call.ts'
import { controllerFields } from './controller-fields.ts'
import { fields, type KubeObject, timestamp } from './kube-object.ts'
import { checkStrategicPatch, mergePatch } from './merge-patch.ts'
import type { ObjectStore } from './object-store.ts'
import { findObject, objectNotFound, scopeOf } from './read-objects.ts'
import { RESOURCES, type Resource } from './resources.ts'
import { type Candidate, validateObject } from './validate-object.ts'

/**
 * Creates an object.
 *
 * @throws {StatusError} 409 if one with that name exists.
 */
export async function createObject(
  call: ResourceCall,
  resource: Resource,
  store: ObjectStore,
): Promise<Answer> {
  const candidate = validateObject(await readJson(call.request), call, resource)
  const { name, metadata } = candidate
  const namespace = scopeOf(call)
  if (namespace !== undefined && store.get('namespaces', undefined, namespace) === undefined) {
    throw objectNotFound('namespaces', namespace)
  }
  if ((metadata['resourceVersion'] ?? '') !== '') {
    throw new StatusError(
      'BadRequest',
      'resourceVersion should not be set on objects to be created',
    )
  }
  if (store.get(resource.name, namespace, name) !== undefined) {
    throw new StatusError('AlreadyExists', `${resource.name} "${name}" already exists`, {
      name,
      kind: resource.name,
    })
  }
  const object = compose(candidate, resource, {
    ...(namespace === undefined ? {} : { namespace }),
    uid: randomUUID(),
    creationTimestamp: timestamp(Date.now()),
  })
  return { status: 201, body: isDryRun(call) ? object : store.put(resource.name, object) }
}

/**
 * Replaces an object.
 *
 * @throws {StatusError} 409 if it has changed since the client read it.
 */
export async function updateObject(
  call: ResourceCall,
  resource: Resource,
  store: ObjectStore,
): Promise<Answer> {
  return replace(await readJson(call.request), call, resource, store)
}

const MERGE = 'application/merge-patch+json'
const STRATEGIC = 'application/strategic-merge-patch+json'

/** Patches an object with a JSON merge patch, or with a strategic merge patch that is equivalent to one. */
export async function patchObject(
  call: ResourceCall,
  resource: Resource,
  store: ObjectStore,
): Promise<Answer> {
  const patch = await readJson(call.request, [MERGE, STRATEGIC])
  if (call.request.headers['content-type']?.startsWith(STRATEGIC)) checkStrategicPatch(patch)
  const existing = findObject(call, store)
  // Only a version in the patch itself is a precondition.
  const { resourceVersion: _, ...metadata } = existing.metadata
  return replace(fields(mergePatch({ ...existing, metadata }, patch)), call, resource, store)
}

/** Deletes an object. A namespace is deleted immediately, with everything in it. */
export async function deleteObject(
  call: ResourceCall,
  resource: Resource,
  store: ObjectStore,
): Promise<Answer> {
  await readBody(call.request)
  const existing = findObject(call, store)
  const { name, uid } = existing.metadata
  if (!isDryRun(call)) {
    if (!resource.namespaced) {
      for (const { name: kind } of RESOURCES.filter(({ namespaced }) => namespaced)) {
        for (const inside of store.list(kind, name)) store.delete(kind, inside)
      }
    }
    store.delete(resource.name, existing)
  }
  const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }
  return { status: 200, body: { ...success, details: { name, kind: resource.name, uid } } }
}

function replace(
  body: Readonly<Record<string, unknown>>,
  call: ResourceCall,
  resource: Resource,
  store: ObjectStore,
): Answer {
  const candidate = validateObject(body, call, resource)
  const existing = findObject(call, store)
  const { resourceVersion, uid, creationTimestamp, namespace } = existing.metadata
  const expected = candidate.metadata['resourceVersion'] ?? ''
  if (expected !== '' && expected !== resourceVersion) {
    throw new StatusError(
      'Conflict',
      `Operation cannot be fulfilled on ${resource.name} "${candidate.name}": the object has been modified; please apply your changes to the latest version and try again`,
      { name: candidate.name, kind: resource.name },
    )
  }
  const kept = { uid, creationTimestamp, ...(namespace === undefined ? {} : { namespace }) }
  const object = compose(candidate, resource, { ...kept, resourceVersion })
  const isSame = isDeepStrictEqual(object, existing)
  // A write that changes nothing causes no event, as in Kubernetes.
  return { status: 200, body: isSame || isDryRun(call) ? object : store.put(resource.name, object) }
}

type Identity = Pick<KubeObject['metadata'], 'uid' | 'creationTimestamp' | 'namespace'> & {
  readonly resourceVersion?: string
}

function compose(
  { name, metadata, body }: Candidate,
  { kind }: Resource,
  own: Identity,
): KubeObject {
  return {
    ...body,
    kind,
    apiVersion: 'v1',
    metadata: { resourceVersion: '', ...metadata, name, ...own },
    ...controllerFields(kind, body),
  }
}

function isDryRun({ url }: ResourceCall): boolean {
  return url.searchParams.getAll('dryRun').includes('All')
}
