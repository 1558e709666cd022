import type { IncomingMessage, OutgoingHttpHeaders, RequestListener } from 'node:http'
import https from 'node:https'
import { type AgentOptions, createAgent } from 'kubecred/https'
import { afterEach, describe, expect, it } from 'vitest'
import { type PlainServer, startPlainServer, TOKEN } from './plain-server.ts'
import { readText } from './request.ts'

let plain: PlainServer
afterEach(() => plain[Symbol.asyncDispose]())

interface Case {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Buffer
  readonly answer?: RequestListener
}

const hello: RequestListener = (_, response) => response.end('hello')

const CASES: Readonly<Record<string, Case>> = {
  'a GET': {},
  'a HEAD': {
    method: 'HEAD',
    answer: (_, response) => response.setHeader('content-length', '5').end(),
  },
  'a HEAD without a length': { method: 'HEAD' },
  'a 204': { answer: (_, response) => response.writeHead(204).end() },
  'a 304': { answer: (_, response) => response.writeHead(304, { etag: '"x"' }).end() },
  'a 400 with a body': { answer: (_, response) => response.writeHead(400).end('no') },
  'a status line of its own': {
    answer: (_, response) => response.writeHead(299, 'Quite Good').end('x'),
  },
  'an answer with a trailer': {
    answer: (_, response) => {
      response.writeHead(200, { trailer: 'x-sum' })
      response.write('body')
      response.addTrailers({ 'x-sum': '1' })
      response.end()
    },
  },
  'an answer that announces a trailer and has a length': {
    answer: ({ socket }) =>
      socket.end('HTTP/1.1 200 OK\r\nTrailer: x-sum\r\nContent-Length: 4\r\n\r\nbody'),
  },
  'early hints': {
    answer: (_, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' })
      response.end('late')
    },
  },
  'repeated headers': {
    headers: { 'impersonate-user': 'ann', 'impersonate-group': ['one', 'two'], 'x-b': ['1', '2'] },
    answer: (_, response) =>
      response
        .setHeader('set-cookie', ['a=1', 'b=2'])
        .setHeader('warning', ['299 - "x"', '299 - "y"'])
        .end(),
  },
  'bytes that are not ASCII': {
    headers: { 'x-bytes': 'caf\xe9 \xff', 'x-utf': Buffer.from('Grüße, 世界').toString('latin1') },
    answer: (_, response) =>
      response
        .writeHead(200, { warning: Buffer.from('299 - "Grüße, 世界"').toString('latin1') })
        .end(),
  },
  '64 KB of headers': { headers: { 'x-long': 'x'.repeat(64 * 1024) } },
  '3,000 headers': {
    headers: Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`x-${index}`, '1'])),
  },
  'a POST': { method: 'POST', body: 'text', headers: { 'content-type': 'text/plain' } },
  'a POST without a body': { method: 'POST' },
  'a large PUT': { method: 'PUT', body: Buffer.alloc(1024 * 1024, 'x') },
  'a PATCH in chunks': {
    method: 'PATCH',
    body: 'text',
    headers: { 'transfer-encoding': 'chunked' },
  },
  'a DELETE with a body': { method: 'DELETE', body: '{}', headers: { 'content-length': '2' } },
  'a GET with a body': { body: 'odd', headers: { 'content-length': '3' } },
  'Connection: close': { headers: { connection: 'close' } },
  'an upgrade that is not meant': { headers: { upgrade: 'h2c' } },
  'Expect: 100-continue': { method: 'POST', body: 'later', headers: { expect: '100-continue' } },
  'a method of its own': { method: 'PROPFIND' },
}

describe.each([
  ['the agent', {}],
  ['the direct variant', { direct: true }],
] satisfies [string, AgentOptions][])(
  '%s shows client and server what they would see without it',
  (_, options) => {
    it.each(Object.entries(CASES))('%s', async (_name, { answer = hello, ...sent }) => {
      const seen: unknown[] = []
      plain = await startPlainServer((received, response) => {
        void readText(received).then((body) => {
          seen.push(describeRequest(received, body))
          const isWarmUp = received.url === '/warm-up'
          ;(isWarmUp ? hello : answer)(received, response)
        })
      })
      const agent = createAgent(plain.cluster, options)
      await plain.cluster.fetch('/warm-up').then((response) => response.text())
      seen.length = 0
      const ours = await ask(agent, sent)
      const without = new https.Agent({ rejectUnauthorized: false })
      const theirs = await ask(without, {
        ...sent,
        headers: { ...sent.headers, authorization: `Bearer ${TOKEN}` },
      })
      expect(ours).toEqual(theirs)
      expect(seen[0]).toEqual(seen[1])
    })
  },
)

async function ask(agent: https.Agent, { method = 'GET', headers = {}, body }: Case) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = https.request(plain.url, {
      agent,
      method,
      headers: { 'user-agent': 'test', ...headers },
    })
    request.once('response', resolve).once('error', reject)
    if (headers['expect'] === undefined) request.end(body)
    else request.once('continue', () => request.end(body))
  })
  const text = await readText(response)
  const { statusCode, statusMessage, complete } = response
  return { statusCode, statusMessage, complete, headers: without(response, HOP_BY_HOP), text }
}

/** These differ with each connection. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'date', 'trailer']

function describeRequest(request: IncomingMessage, body: string) {
  // Whether the body has a length or is chunked is decided hop by hop.
  const own = [...HOP_BY_HOP, 'expect', 'upgrade', 'content-length']
  return { method: request.method, url: request.url, body, headers: without(request, own) }
}

function without({ headersDistinct }: IncomingMessage, names: readonly string[]) {
  return Object.fromEntries(
    Object.entries(headersDistinct).filter(([name]) => !names.includes(name)),
  )
}
