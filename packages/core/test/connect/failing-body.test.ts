import { PassThrough, Readable } from 'node:stream'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect } from 'kubecred'
import { openHttp2 } from 'kubecred/http2'
import { createDispatcher } from 'kubecred/undici'
import * as undici from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// A body may fail early, while the plugin runs or the connection is being made. It is not read yet, and an unhandled
// error event would end the process. What waits for such a body must not hang.

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

const PATH = '/api/v1/namespaces'
const HEADERS = { 'content-type': 'application/json' }

const bodies: Readonly<Record<string, () => Readable>> = {
  'fails when it is read': () =>
    new Readable({
      read() {
        this.push('{')
        this.destroy(new Error('mine'))
      },
    }),
  'has failed already': () => new PassThrough().on('error', () => {}).destroy(new Error('mine')),
  'fails in a moment': () => {
    const body = new PassThrough()
    body.write('{')
    setImmediate(() => body.destroy(new Error('mine')))
    return body
  },
}
const cutOff: Readonly<Record<string, () => Readable | Promise<Readable>>> = {
  'was read before': async () => {
    const body = Readable.from(['{}'])
    await body.toArray()
    return body
  },
  'is made of objects': () => Readable.from([{ metadata: {} }]),
  'is destroyed in a moment': () => {
    const body = new PassThrough()
    body.write('{')
    setImmediate(() => body.destroy())
    return body
  },
  'was destroyed already': () => new PassThrough().destroy(),
}

type Send = (cluster: Cluster, body: Readable) => Promise<unknown>
const viaFetch: Send = (cluster, body) => {
  const init = { method: 'POST', headers: HEADERS, body, duplex: 'half' }
  return cluster.fetch(PATH, init as unknown as RequestInit)
}
const ways: readonly { name: string; transport?: 'https' | 'http2'; send: Send }[] = [
  { name: 'fetch', send: viaFetch },
  { name: 'fetch over https', transport: 'https', send: viaFetch },
  { name: 'fetch over http2', transport: 'http2', send: viaFetch },
  {
    name: 'kubecred/http2',
    send: (cluster, body) =>
      openHttp2(cluster).request({ ...HEADERS, ':method': 'POST', ':path': PATH }, { body }),
  },
  {
    name: 'kubecred/undici',
    send: (cluster, body) =>
      undici.request(sandbox.url + PATH, {
        dispatcher: createDispatcher(cluster, undici),
        method: 'POST',
        headers: HEADERS,
        body,
      }),
  },
]

describe.each(ways)('with $name', ({ transport, send }) => {
  const open = async (): Promise<Cluster> => {
    const exec = await sandbox.plugin({ user: 'jane', groups: ['system:masters'] })
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    return connect({ kubeconfig, ...(transport && { transport }) })
  }

  it.each(Object.entries(bodies))("a body that %s is the caller's own error", async (_, make) => {
    await using cluster = await open()
    await expect(send(cluster, make())).rejects.toThrow('mine')
    // And again when the credential and the connection are there.
    await cluster.fetch('/version')
    await expect(send(cluster, make())).rejects.toThrow('mine')
  })

  it.each(Object.entries(cutOff))('a body that %s ends the request', async (_, make) => {
    await using cluster = await open()
    await expect(send(cluster, await make())).rejects.toThrow()
    await cluster.fetch('/version')
    await expect(send(cluster, await make())).rejects.toThrow()
  })
})
