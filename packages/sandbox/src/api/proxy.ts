import { readBody } from '../server/read-body.ts'
import type { Answer } from '../server/send.ts'
import { StatusError } from '../server/status.ts'
import type { ResourceCall } from './call.ts'

/** A request to the proxy subresource of a pod, service or node. */
export interface ProxiedRequest {
  readonly method: string
  /** The path after `/proxy`, with its query. */
  readonly path: string
  readonly resource: string
  readonly namespace?: string
  readonly name: string
  readonly body: Buffer
}

/** Answers a request to a proxy subresource. */
export type Proxied = (request: ProxiedRequest) => Answer | Promise<Answer>

const PROXYABLE = new Set(['pods', 'services', 'nodes'])

/** Whether a call is for a proxy subresource. */
export function isProxied({ info }: ResourceCall): boolean {
  return info.subresource === 'proxy' && info.group === '' && PROXYABLE.has(info.resource)
}

/**
 * Passes a request to the `onProxyRequest` option.
 *
 * @throws {StatusError} 404 if there is no such option.
 */
export async function answerProxied(call: ResourceCall, proxied?: Proxied): Promise<Answer> {
  const { resource, namespace, name = '' } = call.info
  if (proxied === undefined) {
    throw new StatusError('NotFound', `${resource} "${name}" not found`, { name, kind: resource })
  }
  const path = call.url.pathname.split('/proxy').slice(1).join('/proxy')
  return proxied({
    method: call.method,
    path: (path === '' ? '/' : path) + call.url.search,
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    body: await readBody(call.request),
  })
}
