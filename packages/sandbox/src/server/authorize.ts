import { ANONYMOUS, type UserInfo } from '../authentication/user-info.ts'
import type { RequestInfo, ResourceRequest } from './request-info.ts'
import { StatusError } from './status.ts'

/** Returns whether a request is answered with 403. */
export type Forbid = (user: UserInfo, method: string, path: string) => boolean

const PUBLIC_PATHS = /^\/(version|healthz|livez|readyz)\/?$/

/** A request and its user. */
export interface AuthorizedRequest {
  readonly user: UserInfo
  readonly method: string
  readonly path: string
  readonly info: RequestInfo
}

/**
 * Checks that the user may make a request.
 *
 * @throws {StatusError} 403, as kube-apiserver.
 */
export function authorize({ user, method, path, info }: AuthorizedRequest, forbid?: Forbid): void {
  const isPublic = info.kind === 'path' && info.verb === 'get' && PUBLIC_PATHS.test(info.path)
  const isAnonymous = user.username === ANONYMOUS.username
  const isForbidden = (isAnonymous && !isPublic) || forbid?.(user, method, path) === true
  if (!isForbidden) return
  if (info.kind === 'path') {
    const what = `cannot ${info.verb} path "${info.path}"`
    throw new StatusError('Forbidden', `forbidden: User "${user.username}" ${what}`, {})
  }
  const { name, group, resource } = info
  throw new StatusError('Forbidden', describe(user, info), {
    ...(name === undefined ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  })
}

function describe({ username }: UserInfo, info: ResourceRequest): string {
  const { group, resource, subresource, namespace, name, verb } = info
  const what = [resource, subresource].filter((part) => part !== undefined).join('/')
  const subject = [group === '' ? resource : `${resource}.${group}`]
  if (name !== undefined) subject.push(`"${name}"`)
  const where =
    namespace === undefined || resource === 'namespaces'
      ? 'at the cluster scope'
      : `in the namespace "${namespace}"`
  return `${subject.join(' ')} is forbidden: User "${username}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`
}
