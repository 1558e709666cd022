/** What a request is about, as in kube-apiserver's RequestInfo. */
export type RequestInfo = ResourceRequest | PathRequest

/** A request for an object or a list of objects. */
export interface ResourceRequest {
  readonly kind: 'resource'
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly namespace?: string
  readonly resource: string
  readonly name?: string
  readonly subresource?: string
}

/** A request for any other path. */
interface PathRequest {
  readonly kind: 'path'
  readonly verb: string
  readonly path: string
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}
// Any other segment after the name of a namespace is a resource in that namespace.
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize'])

/** Derives what a request is about from its method and URL. */
export function parseRequestInfo(method: string, url: URL): RequestInfo {
  const parts = url.pathname.split('/').slice(1)
  const head = parts[0] === 'api' ? ['', ...parts.slice(1, 2)] : parts.slice(1, 3)
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3)
  const [group, version] = head
  const isApi = parts[0] === 'api' || parts[0] === 'apis'
  if (!isApi || group === undefined || version === undefined || (rest[0] ?? '') === '') {
    return { kind: 'path', verb: method.toLowerCase(), path: url.pathname }
  }
  const target = parseTarget(rest.map(decodeSegment))
  return { kind: 'resource', verb: verbOf(method, url, target), group, version, ...target }
}

type Target = Pick<ResourceRequest, 'namespace' | 'resource' | 'name' | 'subresource'>

function parseTarget(rest: readonly string[]): Target {
  const [first = '', second, third] = rest
  const isInside = third !== undefined && third !== '' && !NAMESPACE_SUBRESOURCES.has(third)
  if (first !== 'namespaces' || second === undefined) return named(first, rest.slice(1))
  if (isInside) return { namespace: second, ...named(third, rest.slice(3)) }
  return { ...(second === '' ? {} : { namespace: second }), ...named(first, rest.slice(1)) }
}

function named(resource: string, [name, subresource]: readonly string[]): Target {
  return {
    resource,
    ...(name === undefined || name === '' ? {} : { name }),
    ...(subresource === undefined || subresource === '' ? {} : { subresource }),
  }
}

function verbOf(method: string, url: URL, { name }: Target): string {
  if (method === 'GET' || method === 'HEAD') {
    if (name !== undefined) return 'get'
    return isWatch(url) ? 'watch' : 'list'
  }
  const verb = VERBS[method] ?? method.toLowerCase()
  return verb === 'delete' && name === undefined ? 'deletecollection' : verb
}

function isWatch(url: URL): boolean {
  return ['true', '1'].includes(url.searchParams.get('watch') ?? '')
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
