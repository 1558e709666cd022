import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { head, type Scene, SECRET, sendBytes, startScene } from './scene.ts'

let scene: Scene
beforeEach(async () => {
  scene = await startScene((request, response) => {
    request.resume().once('end', () => response.end('from the server'))
  })
})
afterEach(() => scene[Symbol.asyncDispose]())

const HIDDEN = 'DELETE /api/v1/namespaces/kube-system HTTP/1.1\r\nHost: x\r\n\r\n'

/** A request that is valid except for the given lines. */
const post = (...lines: string[]): string => head(scene.port, 'POST /api HTTP/1.1', ...lines)

describe('two requests in one (request smuggling)', () => {
  it.each<[string, () => string]>([
    [
      'both Content-Length and Transfer-Encoding',
      () => `${post('Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n${HIDDEN}`,
    ],
    [
      'both Transfer-Encoding and Content-Length',
      () => `${post('Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n${HIDDEN}`,
    ],
    [
      'two lengths',
      () => `${post('Content-Length: 5', `Content-Length: ${5 + HIDDEN.length}`)}hello${HIDDEN}`,
    ],
    ['a list of lengths', () => `${post('Content-Length: 5, 6')}hello${HIDDEN}`],
    ['a length with a sign', () => `${post('Content-Length: +5')}hello${HIDDEN}`],
    ['a length that is not a number', () => `${post('Content-Length: 0x5')}hello${HIDDEN}`],
    [
      'an encoding that is not chunked last',
      () => `${post('Transfer-Encoding: chunked, identity')}0\r\n\r\n${HIDDEN}`,
    ],
    [
      'an encoding with a space in its name',
      () => `${post('Transfer-Encoding : chunked')}0\r\n\r\n${HIDDEN}`,
    ],
    [
      'an encoding with an odd letter',
      () => `${post('Transfer-Encoding: \x0bchunked')}0\r\n\r\n${HIDDEN}`,
    ],
    [
      'a folded line',
      () => `${post('X-Fold: a', ' Transfer-Encoding: chunked')}0\r\n\r\n${HIDDEN}`,
    ],
    [
      'a chunk size that overflows',
      () => `${post('Transfer-Encoding: chunked')}ffffffffffffffff0\r\n\r\n${HIDDEN}`,
    ],
    ['a negative chunk size', () => `${post('Transfer-Encoding: chunked')}-1\r\n\r\n${HIDDEN}`],
    ['a chunk with bare line feeds', () => `${post('Transfer-Encoding: chunked')}0\n\n${HIDDEN}`],
    ['a NUL in a header', () => `${post('X-Nul: a\0b', 'Content-Length: 0')}${HIDDEN}`],
    [
      'a carriage return in a header',
      () => `${post('X-Cr: a\rContent-Length: 5', 'Content-Length: 0')}${HIDDEN}`,
    ],
    ['bare line feeds', () => `${post('Content-Length: 0').replaceAll('\r\n', '\n')}${HIDDEN}`],
    ['a line without a colon', () => `${post('Content-Length')}${HIDDEN}`],
    ['no HTTP at all', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['another version of HTTP', () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`],
  ])('with %s are rejected', async (_, bytes) => {
    const text = await sendBytes(scene.port, bytes())
    expect(text).toMatch(/^(?:HTTP\/1.1 400 |$)/)
    expect(text).not.toContain('from the server')
    expect(text).not.toContain(SECRET)
    // The server may see the beginning of a body with invalid chunks, but never the request hidden in it.
    expect(scene.seen.filter(({ method }) => method !== 'POST')).toEqual([])
  })

  it('that are pipelined are each checked', async () => {
    const second = 'GET /second HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'
    const text = await sendBytes(scene.port, `${post('Content-Length: 5')}hello${second}`)
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403'])
    expect(scene.seen.map(({ url }) => url)).toEqual(['/api'])
  })

  it('cannot result from a Connection header that lists Content-Length', async () => {
    const text = await sendBytes(
      scene.port,
      `${post('Content-Length: 5', 'Connection: close, Content-Length')}hello`,
    )
    expect(text).toMatch(/^HTTP\/1.1 200 /)
    expect(scene.seen[0]?.headers).toMatchObject({ 'content-length': ['5'] })
  })
})

it('the lenient parser stays off even if the process was started with it', () => {
  expect(scene.server).toMatchObject({ insecureHTTPParser: false })
})
