import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import { Exec, type HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node'
import { attach } from 'kubecred/client-node'
import type { Driver } from '../driver.ts'
import { execUpgrade } from './client-node-exec.ts'

/** The node-fetch of client-node, which is older than ours. */
type NodeFetch = (
  url: string,
  init: object,
) => Promise<{ status: number; headers: { raw(): Record<string, string[]> }; body: Readable }>
const require = createRequire(import.meta.resolve('@kubernetes/client-node'))
const { default: fetch } = require('node-fetch') as { default: NodeFetch }

/** @kubernetes/client-node 1.4, as its generated APIs send requests. */
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

/** Aborts after an error, as client-node does: its node-fetch emits an error without ending the body. */
function endWith(over: AbortController, body: Readable): Readable {
  return body.on('error', () => body.destroy()).on('close', () => over.abort())
}
