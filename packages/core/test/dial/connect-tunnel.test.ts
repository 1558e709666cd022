import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { parseProxyUrl } from '../../src/dial/proxy.ts'
import { openConnectTunnel } from '../../src/dial/tunnels.ts'
import { Secret } from '../../src/secret/secret.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { listen, type TestProxy } from '../fixtures/proxies.ts'

const OK = 'HTTP/1.1 200 Connection established\r\n\r\n'
const PASSWORD = 'hidden-4b81f0c2'

/** A proxy that responds to the first request with these chunks, and then stays silent. */
const answering = (...pieces: string[]) =>
  listen((socket, proxy) => {
    socket.once('data', async (data: Buffer) => {
      proxy.heard.push(data.toString())
      socket.setNoDelay(true)
      for (const piece of pieces) await new Promise((sent) => socket.write(piece, sent))
    })
  })

async function ask(proxy: TestProxy, login = '', host = 'api.example'): Promise<Socket> {
  const server = parseProxyUrl(new Secret(`http://${login}127.0.0.1:${proxy.port}`), 'proxy-url')
  const socket = connect(proxy.port, '127.0.0.1').on('error', () => {})
  await openConnectTunnel(socket, server, { host, port: 6443 })
  return socket
}

describe('CONNECT', () => {
  it('asks for host and port', async () => {
    await using proxy = await answering(OK)
    await ask(proxy)
    await ask(proxy, '', 'fd00::1')
    expect(proxy.heard).toEqual([
      'CONNECT api.example:6443 HTTP/1.1\r\nHost: api.example:6443\r\n\r\n',
      'CONNECT [fd00::1]:6443 HTTP/1.1\r\nHost: [fd00::1]:6443\r\n\r\n',
    ])
  })

  it('sends the decoded user and password', async () => {
    await using proxy = await answering(OK)
    await ask(proxy, 'jane%40corp:p%C3%A4ss@')
    const sent =
      /\r\nProxy-Authorization: Basic (\S+)\r\n\r\n$/.exec(proxy.heard[0] ?? '')?.[1] ?? ''
    expect(Buffer.from(sent, 'base64').toString()).toBe('jane@corp:päss')
  })

  it.each([
    ['in one chunk', [OK]],
    ['byte by byte', [...OK]],
    ['without a reason phrase', ['HTTP/1.0 200\r\nVia: x\r\n\r\n']],
    [
      'with a Content-Length, which must be ignored',
      ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'],
    ],
    ['with another 2xx status', ['HTTP/1.1 204 No Content\r\n\r\n']],
    ['with 60 KB of headers', [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(60_000)}\r\n\r\n`]],
  ])('succeeds with a response %s', async (_, pieces) => {
    await using proxy = await answering(...pieces)
    expect((await ask(proxy)).destroyed).toBe(false)
  })

  it('leaves the bytes after the head to the next reader', async () => {
    await using proxy = await answering(`${OK}first `, 'second')
    const socket = await ask(proxy)
    let text = ''
    for await (const chunk of socket) {
      text += String(chunk)
      if (text.length >= 12) break
    }
    expect(text).toBe('first second')
  })

  it.each([
    ['502', 'HTTP/1.1 502 Bad Gateway\r\n\r\n', /api\.example:6443: it answered 502 Bad Gateway$/],
    ['403', 'HTTP/1.1 403 No\r\n\r\n', /it answered 403 Forbidden$/],
    ['an unknown status', `HTTP/1.1 799 ${PASSWORD}\r\n\r\n`, /it answered 799$/],
    ['a redirect', 'HTTP/1.1 302 Found\r\nLocation: http://x\r\n\r\n', /it answered 302 Found$/],
    ['garbage', '\x05\xff\x00', /did not respond with HTTP$/],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n', /did not respond with HTTP$/],
    ['a malformed status line', 'HTTP/1.1 2000 OK\r\n\r\n', /with a malformed status line$/],
    ['endless headers', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}`, /more than 64 KiB of/],
    ['a head that is too long', `HTTP/1.1 200 ${'x'.repeat(66_000)}\r\n\r\n`, /more than 64 KiB/],
  ])('fails on %s', async (_, answer, says) => {
    await using proxy = await answering(answer)
    const error = await ask(proxy, `jane:${PASSWORD}@`).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'ERR_PROXY_FAILED',
      proxy: `http://127.0.0.1:${proxy.port}`,
      message: expect.stringMatching(says),
    })
    expectNoLeak([error], [PASSWORD, Buffer.from(`jane:${PASSWORD}`).toString('base64')])
  })

  it.each([
    ['without a login', '', 'requires a user and password (407)'],
    ['with a wrong one', 'jane:x@', 'rejected the user and password (407)'],
  ])('fails on 407 %s, with a hint', async (_, login, says) => {
    await using proxy = await answering('HTTP/1.1 407 Who?\r\n\r\n')
    await expect(ask(proxy, login)).rejects.toMatchObject({
      code: 'ERR_PROXY_FAILED',
      message: expect.stringContaining(says),
      hint: expect.stringContaining('Check the user and password in proxy-url'),
    })
  })

  it.each([
    ['at once', ''],
    ['in the middle of its head', 'HTTP/1.1 200 OK\r\nX:'],
  ])('fails if the proxy closes %s', async (_, sent) => {
    await using proxy = await listen((socket) => socket.once('data', () => socket.end(sent)))
    await expect(ask(proxy)).rejects.toMatchObject({
      code: 'ERR_PROXY_FAILED',
      message: expect.stringContaining('closed the connection before it responded'),
    })
  })
})
