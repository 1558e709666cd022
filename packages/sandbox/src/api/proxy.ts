import { readBody } from '../server/read-body.ts'
import type { Answer } from '../server/send.ts'
import { StatusError } from '../server/status.ts'
import type { ResourceCall } from './call.ts'

/** A request that goes through the API server to something behind it. */
export interface ProxiedRequest {
  readonly method: string
  /** The path behind `/proxy`, with its query. */
  readonly path: string
  readonly resource: string
  readonly namespace?: string
  readonly name: string
  readonly body: Buffer
}

/** Answers in place of what is behind a proxy subresource. */
export type Proxied = (request: ProxiedRequest) => Answer | Promise<Answer>

const PROXYABLE = new Set(['pods', 'services', 'nodes'])

/** Says whether a call is for something behind the API server. */
export function isProxied({ info }: ResourceCall): boolean {
  return info.subresource === 'proxy' && info.group === '' && PROXYABLE.has(info.resource)
}

/** Lets the hook answer; without a hook nothing is there. */
export async function answerProxied(call: ResourceCall, proxied?: Proxied): Promise<Answer> {
  const { resource, namespace, name = '' } = call.info
  if (proxied === undefined) {
    throw new StatusError('NotFound', `${resource} "${name}" not found`, { name, kind: resource })
  }
  const behind = call.url.pathname.split('/proxy').slice(1).join('/proxy')
  return proxied({
    method: call.method,
    path: (behind === '' ? '/' : behind) + call.url.search,
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    body: await readBody(call.request),
  })
}
