import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { attach } from 'kubecred/client-node'
import type { Driver } from '../driver.ts'
import { execUpgrade } from './client-node-exec.ts'

/** @kubernetes/client-node 2.x, as its generated APIs send requests. Needs Node 22. */
export const clientNode2: Driver = {
  name: '@kubernetes/client-node 2',
  tellsErrors: 'as the cause',
  async open(_, { kubeconfig, vault }) {
    // Imported here, so that any Node can load this file.
    const { Exec, KubeConfig, RequestContext } = await import('client-node-2')
    const require = createRequire(import.meta.resolve('client-node-2'))
    const { fetch } = require('undici') as { fetch: typeof globalThis.fetch }
    const kc = new KubeConfig()
    kc.loadFromFile(kubeconfig)
    const attachment = attach(kc, vault === undefined ? { kubeconfig } : { vault })
    const own = kc.getCurrentCluster()?.server
    return {
      async send({ method = 'GET', server = own, path, headers = {}, body, signal }) {
        const context = new RequestContext(`${server}${path}`, method as never)
        for (const [name, value] of Object.entries(headers)) context.setHeaderParam(name, value)
        await kc.applySecurityAuthentication(context)
        const init = {
          method,
          headers: context.getHeaders(),
          dispatcher: context.getDispatcher(),
          body: body ?? null,
          ...(body instanceof Readable && { duplex: 'half' }),
          ...(signal && { signal }),
        }
        const response = await fetch(context.getUrl(), init as object)
        return {
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: response.body === null ? Readable.from([]) : asReadable(response.body),
        }
      },
      upgrade: execUpgrade(new Exec(kc)),
      close: () => attachment.close(),
    }
  },
}

function asReadable(body: NonNullable<Response['body']>): Readable {
  return Readable.fromWeb(body as ReadableStream)
}
