import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PipeEnd } from '../../src/bridge/memory-pipe.ts'
import { readPlainHead } from '../../src/bridge/plain-request.ts'

const read = (text: string) => readPlainHead(Buffer.from(text, 'latin1'))
const withLines = (...lines: string[]) =>
  read(`GET /x HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`)

describe('a plain head', () => {
  it('is what Node’s client writes', () => {
    const text =
      'POST /api/v1/pods?dryRun=All HTTP/1.1\r\nHost: x:1\r\nX-A: one, two\r\nX-B: \r\nContent-Length: 12\r\nConnection: keep-alive\r\n\r\n'
    expect(read(`${text}hello`)).toEqual({
      method: 'POST',
      path: '/api/v1/pods?dryRun=All',
      headers: { 'x-a': 'one, two', 'x-b': '' },
      headBytes: text.length,
      bodyBytes: 12,
    })
  })

  it('keeps repeated headers apart, and bytes as they are', () => {
    const lines = ['Impersonate-Group: a', 'impersonate-group: b', 'IMPERSONATE-GROUP: c']
    expect(withLines(...lines, 'x: caf\xe9\tx')?.headers).toEqual({
      'impersonate-group': ['a', 'b', 'c'],
      x: 'caf\xe9\tx',
    })
  })
})

describe('left to Node’s parser is', () => {
  it.each([
    ['a head without its end', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['a large head', `GET / HTTP/1.1\r\nx: ${'x'.repeat(17 * 1024)}\r\n\r\n`],
    ['another method', 'CONNECT x:1 HTTP/1.1\r\n\r\n'],
    ['a method in lower case', 'get / HTTP/1.1\r\n\r\n'],
    ['another version', 'GET / HTTP/1.0\r\n\r\n'],
    ['a URL', 'GET http://x/ HTTP/1.1\r\n\r\n'],
    ['a path with a space', 'GET /a b HTTP/1.1\r\n\r\n'],
    ['a path with other bytes', 'GET /\xe9 HTTP/1.1\r\n\r\n'],
    ['two spaces', 'GET  / HTTP/1.1\r\n\r\n'],
    ['an empty line first', '\r\nGET / HTTP/1.1\r\n\r\n'],
    ['a bare line feed', 'GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n'],
    ['a bare carriage return', 'GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n'],
  ])('%s', (_, text) => {
    expect(read(text)).toBeUndefined()
  })

  it.each([
    'Transfer-Encoding: chunked',
    'Expect: 100-continue',
    'Upgrade: websocket',
    'TE: trailers',
    'Trailer: x',
    'Keep-Alive: timeout=1',
    'Proxy-Connection: keep-alive',
    'Connection: close',
    'Connection: keep-alive, x',
    'Connection: Upgrade',
    'Content-Length: +1',
    'Content-Length: 0x1',
    'Content-Length: 1, 1',
    'Content-Length: 1234567890',
    'Content-Length:1',
    'Content-Length : 1',
    'A:  b',
    'A: b ',
    'A: b\0',
    ' A: b',
    'A b: c',
    'A\xe9: b',
    ': b',
    'A',
    '__proto__: x',
  ])('a request with %o', (line) => {
    expect(withLines('Host: x')).toBeDefined()
    expect(withLines('Host: x', line)).toBeUndefined()
  })

  it('two lengths', () => {
    expect(withLines('Content-Length: 1')).toMatchObject({ bodyBytes: 1 })
    expect(withLines('Content-Length: 1', 'Content-Length: 1')).toBeUndefined()
  })
})

const names = ['host', 'X-A', 'x-a', 'Content-Length', 'Connection', 'Transfer-Encoding', 'a b', '']
const values = ['1', '0', 'keep-alive', 'close', 'chunked', ' 1', 'x\t y', '\xe9', 'x\r', '']
const line = fc
  .tuple(fc.constantFrom(...names), fc.constantFrom(':', ': ', ' : '), fc.constantFrom(...values))
  .map((parts) => `${parts.join('')}\r\n`)
const start = fc
  .tuple(fc.constantFrom('GET', 'POST', 'get'), fc.constantFrom('/', '/a?b', '*', '/\xe9'))
  .map(([method, path]) => `${method} ${path} HTTP/1.1\r\n`)

describe('a head that is accepted', () => {
  it('means the same to Node’s parser', async () => {
    const server = createServer({ requireHostHeader: false, keepAliveTimeout: 0 })
    let accepted = 0
    const property = fc.asyncProperty(start, fc.array(line, { maxLength: 4 }), async (...parts) => {
      const text = `${parts.flat().join('')}\r\n`
      const head = read(text)
      if (head === undefined) return
      accepted += 1
      const [client, other] = PipeEnd.pair()
      server.emit('connection', other)
      const received = once(server, 'request')
      client.write(`${text}${'x'.repeat(head.bodyBytes)}`, 'latin1')
      const [request] = (await received) as [IncomingMessage]
      let size = 0
      for await (const chunk of request) size += (chunk as Buffer).length
      const { host: _, connection: __, 'content-length': ___, ...rest } = request.headersDistinct
      client.destroy()
      expect({
        method: request.method,
        path: request.url,
        headers: rest,
        bodyBytes: size,
      }).toEqual({
        method: head.method,
        path: head.path,
        headers: Object.fromEntries(
          Object.entries(head.headers).map(([name, value]) => [name, [value].flat()]),
        ),
        bodyBytes: head.bodyBytes,
      })
    })
    await fc.assert(property, { numRuns: 500 })
    expect(accepted).toBeGreaterThan(20)
  })
})
