import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import type {
  ConfigurationOptions,
  CoreV1Api,
  RequestContext,
  ResponseContext,
} from '@kubernetes/client-node'
import { expect, vi } from 'vitest'
import type { Script, ScriptedServer } from './scripted-server.ts'

const LIST = { kind: 'NamespaceList', apiVersion: 'v1', metadata: {}, items: [] }

export function answer(
  response: ServerResponse,
  status = 200,
  headers = {},
  body: unknown = LIST,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body))
}

/** Options of a call that runs functions before the request and after the response. */
export function withMiddleware({
  pre = () => {},
  post = () => {},
}: {
  pre?: (request: RequestContext) => unknown
  post?: (response: ResponseContext) => unknown
}): ConfigurationOptions {
  const after =
    <T>(run: (value: T) => unknown) =>
    (value: T) => {
      const done = Promise.resolve(run(value)).then(() => value)
      return { toPromise: () => done, pipe: () => expect.unreachable() }
    }
  const middleware = [{ pre: after(pre), post: after(post) }]
  return { middleware, middlewareMergeStrategy: 'append' } as unknown as ConfigurationOptions
}

const withPre = (pre: (request: RequestContext) => unknown): ConfigurationOptions =>
  withMiddleware({ pre })

const create = (api: CoreV1Api, options?: ConfigurationOptions): Promise<unknown> =>
  api.createNamespacedConfigMap({ namespace: 'n', body: { metadata: { name: 'x' } } }, options)

/** A request, and how the server responds to it. */
export interface Case {
  readonly script?: Script
  readonly send?: (api: CoreV1Api, scene: ScriptedServer) => Promise<unknown>
}

const redirect =
  (status: number, location: string): Script =>
  ({ path }, response) =>
    path === '/moved' ? answer(response) : answer(response, status, { location })

/** Requests whose outcome must not depend on how they are sent. */
export const CASES: Readonly<Record<string, Case>> = {
  'a list': {},
  'a response of more than 64 KiB': {
    script: (_, response) =>
      answer(response, 200, {}, { ...LIST, metadata: { x: 'x'.repeat(1e6) } }),
  },
  'a compressed response': {
    script: (_, response) =>
      answer(response, 200, { 'content-encoding': 'gzip' }, gzipSync(JSON.stringify(LIST))),
  },
  'an informational response': {
    script: (_, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' })
      answer(response)
    },
  },
  'a query': { send: (api) => api.listNamespace({ labelSelector: 'a=b,c in (d, é)' }) },
  'a name with unusual characters': {
    send: (api) => api.readNamespacedConfigMap({ namespace: 'a/../b', name: 'c%2f d' }),
  },
  'a body': { send: (api) => create(api) },
  'a 404': { script: (_, response) => answer(response, 404, {}, { kind: 'Status', code: 404 }) },
  'a 401 to a fixed token': { script: (_, response) => answer(response, 401) },
  'a 500 with text': {
    script: (_, response) =>
      response.writeHead(500, { 'content-type': 'text/plain' }).end('broken'),
  },
  'repeated headers': {
    script: (_, response) => answer(response, 409, { 'x-many': ['a', 'b'] }),
  },
  'a redirect': { script: redirect(302, '/moved') },
  'a permanent redirect of a POST': { script: redirect(301, '/moved'), send: (api) => create(api) },
  'a redirect of a POST to a GET': { script: redirect(303, '/moved'), send: (api) => create(api) },
  'a redirect that keeps the body': { script: redirect(307, '/moved'), send: (api) => create(api) },
  'a redirect to another server': { script: redirect(308, 'https://127.0.0.1:9/') },
  'a redirect without an address': { script: (_, response) => answer(response, 302) },
  'a 304': { script: (_, response) => response.writeHead(304).end() },
  'a header of the caller': {
    send: (api) =>
      api.listNamespace(
        {},
        withPre((request) => request.setHeaderParam('X-A', '1')),
      ),
  },
  'a token of the caller': {
    send: (api) =>
      api.listNamespace(
        {},
        withPre((request) => request.setHeaderParam('Authorization', 'Bearer x')),
      ),
  },
  'an invalid header': {
    send: (api) =>
      api.listNamespace(
        {},
        withPre((request) => request.setHeaderParam('x', 'a\nb')),
      ),
  },
  'a header about the connection': {
    send: (api) =>
      api.listNamespace(
        {},
        withPre((request) => request.setHeaderParam('Expect', '100-continue')),
      ),
  },
  'another URL': {
    send: (api, { kc }) =>
      api.listNamespace(
        {},
        withPre((request) => request.setUrl(`${kc.getCurrentCluster()?.server}/b?c`)),
      ),
  },
  'a body of bytes': {
    send: (api) =>
      create(
        api,
        withPre((request) => request.setBody(Buffer.from('{}') as never)),
      ),
  },
  'a body without a type': {
    send: (api) =>
      create(
        api,
        withPre((request) => {
          delete request.getHeaders()['Content-Type']
          request.setBody('text')
        }),
      ),
  },
  'a form': {
    send: (api) =>
      create(
        api,
        withPre((request) => request.setBody(new URLSearchParams({ a: 'b' }))),
      ),
  },
  'a stream': {
    send: (api) =>
      create(
        api,
        withPre((request) => request.setBody(Readable.from(['{}']) as never)),
      ),
  },
  'a GET with a body': {
    send: (api) =>
      api.listNamespace(
        {},
        withPre((request) => request.setBody('x')),
      ),
  },
  'an aborted request': {
    send: (api) =>
      api.listNamespace(
        {},
        withPre((request) => request.setSignal(AbortSignal.abort())),
      ),
  },
  'a request that is aborted before its response': {
    script: () => {},
    send: (api, { received }) => {
      const abort = new AbortController()
      const before = received.length
      const sent = api.listNamespace(
        {},
        withPre((request) => request.setSignal(abort.signal)),
      )
      void vi.waitUntil(() => received.length > before).then(() => abort.abort())
      return sent
    },
  },
  'a request that is aborted while its response arrives': {
    script: (_, response) => response.writeHead(200, { 'content-length': 9 }).write('{'),
    send: (api) => {
      const abort = new AbortController()
      const pre = (request: RequestContext): void => request.setSignal(abort.signal)
      return api.listNamespace({}, withMiddleware({ pre, post: () => abort.abort() }))
    },
  },
  'a response that breaks off': {
    script: (_, response) => {
      response.writeHead(200, { 'content-length': 9 })
      response.write('{', () => response.destroy())
    },
    // The text differs: the connection inside the process reports less.
    send: (api) => api.listNamespace().catch((error: Error) => [error.constructor, error.name]),
  },
  'a server that does not listen': {
    send: async (api, scene) => {
      scene.stop()
      return api.listNamespace()
    },
  },
  'what middleware sees of the response': {
    script: (_, response) =>
      answer(response, 200, { 'content-disposition': 'Inline; FileName="a;b.txt"; X=y' }),
    send: async (api) => {
      const seen: unknown[] = []
      await api
        .listNamespace(
          {},
          withMiddleware({
            async post(response) {
              seen.push(response.httpStatusCode, response.headers['content-type'])
              seen.push(
                response.getParsedHeader('content-disposition'),
                response.getParsedHeader('x'),
              )
              seen.push(await response.getBodyAsAny())
            },
          }),
        )
        .catch(() => seen.push('the body can be read only once'))
      return seen
    },
  },
}
