import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import { Exec, type HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node'
import { attach } from 'kubecred/client-node'
import type { Driver } from '../driver.ts'
import { execUpgrade } from './client-node-exec.ts'

/** client-node's own, an older one than ours. */
type NodeFetch = (
  url: string,
  init: object,
) => Promise<{ status: number; headers: { raw(): Record<string, string[]> }; body: Readable }>
const require = createRequire(import.meta.resolve('@kubernetes/client-node'))
const { default: fetch } = require('node-fetch') as { default: NodeFetch }

/** @kubernetes/client-node 1.4, in the way its generated APIs send. */
export const clientNode1: Driver = {
  name: '@kubernetes/client-node 1.4',
  tellsErrors: 'by code and message',
  async open(_, { kubeconfig, vault }) {
    const kc = new KubeConfig()
    kc.loadFromFile(kubeconfig)
    const attachment = attach(kc, vault === undefined ? { kubeconfig } : { vault })
    const own = kc.getCurrentCluster()?.server
    return {
      async send({ method = 'GET', server = own, path, headers = {}, body, signal }) {
        const context = new RequestContext(`${server}${path}`, method as HttpMethod)
        for (const [name, value] of Object.entries(headers)) context.setHeaderParam(name, value)
        await kc.applySecurityAuthentication(context)
        const over = new AbortController()
        const response = await fetch(context.getUrl(), {
          method,
          headers: context.getHeaders(),
          agent: context.getAgent(),
          body,
          signal: signal ? AbortSignal.any([over.signal, signal]) : over.signal,
        })
        return {
          status: response.status,
          headers: response.headers.raw(),
          body: endWith(over, response.body),
        }
      },
      upgrade: execUpgrade(new Exec(kc)),
      close: () => attachment.close(),
    }
  },
}

/** Its node-fetch tells an error without an end, and goes on with what nobody reads: client-node aborts. */
function endWith(over: AbortController, body: Readable): Readable {
  return body.on('error', () => body.destroy()).on('close', () => over.abort())
}
