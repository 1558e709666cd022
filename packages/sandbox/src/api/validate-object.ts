import { randomBytes } from 'node:crypto'
import { StatusError } from '../server/status.ts'
import type { ResourceCall } from './call.ts'
import { fields } from './kube-object.ts'
import { scopeOf } from './read-objects.ts'
import type { Resource } from './resources.ts'

/** A checked request body: its name is valid and it fits the request. */
export interface Candidate {
  readonly name: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>>
}

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const MAX_SUBDOMAIN_LENGTH = 253

/**
 * Checks a body against its request.
 *
 * @throws {StatusError} 400 or 422, as kube-apiserver.
 */
export function validateObject(
  body: Readonly<Record<string, unknown>>,
  call: ResourceCall,
  resource: Resource,
): Candidate {
  const metadata = fields(body['metadata'])
  checkType(body, resource)
  const namespace = scopeOf(call)
  if (resource.namespaced && (metadata['namespace'] ?? namespace) !== namespace) {
    throw new StatusError(
      'BadRequest',
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  }
  const name = readName(metadata)
  if (call.info.name !== undefined && name !== call.info.name) {
    throw new StatusError(
      'BadRequest',
      `the name of the object (${name}) does not match the name on the URL (${call.info.name})`,
    )
  }
  checkName(name, resource)
  return { name, metadata, body }
}

function checkType(body: Readonly<Record<string, unknown>>, { kind }: Resource): void {
  const { kind: sentKind = kind, apiVersion = 'v1' } = body
  if (sentKind !== kind || apiVersion !== 'v1') {
    throw new StatusError('BadRequest', `the object provided is not a ${kind} of v1`)
  }
}

function readName(metadata: Readonly<Record<string, unknown>>): string {
  const { name, generateName } = metadata
  if (typeof name === 'string' && name !== '') return name
  if (typeof generateName !== 'string' || generateName === '') return ''
  return generateName + randomBytes(3).toString('hex').slice(0, 5)
}

function checkName(name: string, { kind, name: resource, namespaced }: Resource): void {
  const isValid = namespaced
    ? SUBDOMAIN.test(name) && name.length <= MAX_SUBDOMAIN_LENGTH
    : LABEL.test(name)
  if (isValid) return
  const rule = namespaced ? 'a lowercase RFC 1123 subdomain' : 'a lowercase RFC 1123 label'
  const problem =
    name === ''
      ? {
          reason: 'FieldValueRequired',
          message: 'Required value: name or generateName is required',
        }
      : { reason: 'FieldValueInvalid', message: `Invalid value: "${name}": must be ${rule}` }
  throw new StatusError(
    'Invalid',
    `${kind} "${name}" is invalid: metadata.name: ${problem.message}`,
    {
      name,
      kind: resource,
      causes: [{ ...problem, field: 'metadata.name' }],
    },
  )
}
