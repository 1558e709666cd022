import type { Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { createAuthority } from '../../../sandbox/src/certificates/authority.ts'
import { type DialOptions, dial } from '../../src/dial/dial.ts'
import { parseProxyUrl } from '../../src/dial/proxy.ts'
import { makeTarget, type Target } from '../../src/dial/target.ts'
import { Secret } from '../../src/secret/secret.ts'
import { makePair } from '../fixtures/make-certificates.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { listen, proxyUrl, startConnectProxy, startSocksProxy } from '../fixtures/proxies.ts'

const tls = { ca: undefined, serverName: undefined, insecure: true }
const through = (url: string, server = 'https://api.example:6443', from = 'proxy-url'): Target =>
  makeTarget(server, tls, parseProxyUrl(new Secret(url), from))
const attempt = (target: Target, options?: DialOptions): Promise<unknown> =>
  dial(target, undefined, options).then(
    (socket) => {
      socket.destroy()
      return 'connected'
    },
    (reason: unknown) => reason,
  )

const silent = (options = {}) => listen((socket) => socket.resume(), options)
const talking = (answer: string) => listen((s) => s.once('data', () => s.write(answer)))
const OK = 'HTTP/1.1 200 OK\r\n\r\n'

/** Places where a dial can hang. */
const HANGING = [
  ['an http proxy', 'http', () => silent(), 'the proxy'],
  ['an https proxy in its handshake', 'https', () => silent(), 'the proxy'],
  ['a socks5 proxy', 'socks5', () => silent(), 'the proxy'],
  ['the server behind the proxy', 'http', () => talking(OK), 'connection to https://api.example'],
] as const

describe('a dial that hangs', () => {
  it.each(HANGING)('at %s is ended by the timeout', async (_, scheme, start, says) => {
    await using proxy = await start()
    const error = await attempt(through(proxyUrl(scheme, proxy.port)), { timeoutMs: 50 })
    expect(error).toMatchObject({
      code: says === 'the proxy' ? 'ERR_PROXY_FAILED' : 'ERR_SERVER_UNREACHABLE',
      message: expect.stringMatching(new RegExp(`^${says}.*: connection timed out$`)),
    })
    await vi.waitFor(() => expect(proxy.open.size).toBe(0))
  })

  it.each(HANGING)('at %s is ended by the signal', async (_, scheme, start) => {
    await using proxy = await start()
    const before = openSockets()
    const abort = new AbortController()
    const ended = attempt(through(proxyUrl(scheme, proxy.port)), { signal: abort.signal })
    await vi.waitFor(() => expect(proxy.open.size).toBe(1))
    const reason = new Error('enough')
    abort.abort(reason)
    expect(await ended).toBe(reason)
    await vi.waitFor(() => expect(proxy.open.size).toBe(0))
    await vi.waitFor(() => expect(openSockets()).toBe(before))
  })

  it('at the server itself is ended by the timeout or the signal', async () => {
    await using server = await silent()
    const target = makeTarget(`https://127.0.0.1:${server.port}`, tls)
    expect(await attempt(target, { timeoutMs: 50 })).toMatchObject({ code: 'ETIMEDOUT' })
    expect(await attempt(target, { signal: AbortSignal.timeout(50) })).toMatchObject({
      name: 'TimeoutError',
    })
    await vi.waitFor(() => expect(server.open.size).toBe(0))
  })

  it('opens no socket if it was aborted before', async () => {
    await using proxy = await silent()
    const aborted = AbortSignal.abort(new Error('before'))
    const error = await attempt(through(proxyUrl('http', proxy.port)), { signal: aborted })
    expect(error).toMatchObject({ message: 'before' })
    expect(proxy.open.size).toBe(0)
  })
})

describe('a proxy', () => {
  it.each(['http', 'https', 'socks5'])(
    'that refuses connections is named in the error: %s',
    async (scheme) => {
      const closed = await silent()
      await closed[Symbol.asyncDispose]()
      const url = proxyUrl(scheme, closed.port, 'jane:hidden-4b81f0c2')
      const error = await attempt(through(url, undefined, 'HTTPS_PROXY'))
      expect(error).toMatchObject({
        code: 'ERR_PROXY_FAILED',
        message: `the proxy ${scheme}://127.0.0.1:${closed.port} cannot be reached: connection refused`,
        hint: expect.stringMatching(/HTTPS_PROXY.*the proxy.*, not the server/),
      })
      expectNoLeak([error], ['hidden-4b81f0c2'])
    },
  )

  it('whose host name does not exist is named in the error', async () => {
    expect(await attempt(through('http://proxy.invalid:3128'))).toMatchObject({
      code: 'ERR_PROXY_FAILED',
      message: expect.stringMatching(
        /^the proxy http:\/\/proxy\.invalid:3128 cannot be reached: .*could not resolve host/,
      ),
    })
  })

  it('that resets the connection is named in the error', async () => {
    await using proxy = await listen((socket) =>
      socket.once('data', () => socket.resetAndDestroy()),
    )
    expect(await attempt(through(proxyUrl('http', proxy.port)))).toMatchObject({
      code: 'ERR_PROXY_FAILED',
      message: expect.stringMatching(/connection reset by peer|closed the connection/),
    })
  })

  it('over TLS needs a certificate that the system trusts, whatever the settings of the cluster', async () => {
    await using proxy = await startConnectProxy({ to: 9, tls: await makePair() })
    const error = await attempt(through(proxyUrl('https', proxy.port)))
    expect(error).toMatchObject({
      code: 'ERR_PROXY_FAILED',
      message: expect.stringContaining('has a certificate that is not trusted (UNABLE_TO_'),
      hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    })
    expect(proxy.asked).toEqual([])
  })

  it('that does not speak TLS is named in the error', async () => {
    await using proxy = await listen((s) => s.once('data', () => s.end('HTTP/1.1 400 No\r\n\r\n')))
    expect(await attempt(through(proxyUrl('https', proxy.port)))).toMatchObject({
      code: 'ERR_PROXY_FAILED',
      message: expect.stringContaining('no TLS server on this port'),
    })
  })

  it.each([
    ['responds with 502', 'HTTP/1.1 502 Bad Gateway\r\n\r\n'],
    ['responds with garbage', 'no HTTP'],
    ['forwards to a server without TLS', `${OK}no TLS`],
  ])('that %s and keeps the connection open is disconnected', async (_, answer) => {
    await using proxy = await talking(answer)
    expect(await attempt(through(proxyUrl('http', proxy.port)))).toBeInstanceOf(Error)
    await vi.waitFor(() => expect(proxy.open.size).toBe(0))
  })

  it('that alters TLS is named in the hint', async () => {
    // Bytes after the response head come from the server: here they are not TLS.
    await using proxy = await talking(`${OK}I am no TLS server\r\n`)
    expect(await attempt(through(proxyUrl('http', proxy.port)))).toMatchObject({
      code: 'ERR_SERVER_UNREACHABLE',
      message: 'connection to https://api.example:6443 failed: no TLS server on this port',
      hint: expect.stringContaining(`Check the proxy http://127.0.0.1:${proxy.port}`),
    })
  })

  it.each(['::1', '127.0.0.1'])('may listen on %s', async (host) => {
    await using server = await echo()
    await using proxy = await startConnectProxy({ to: server.port, host })
    const target = through(proxyUrl('http', proxy.port, '', host), 'http://[fd00::5]')
    expect(await say(await dial(target, undefined), 'ping')).toBe('ping')
    expect(proxy.asked).toEqual(['CONNECT [fd00::5]:80'])
  })

  it('for SOCKS5 receives an IPv6 address as such', async () => {
    await using server = await echo()
    await using proxy = await startSocksProxy({ to: server.port })
    const target = through(proxyUrl('socks5', proxy.port), 'http://[fd00::5]:81')
    expect(await say(await dial(target, undefined), 'ping')).toBe('ping')
    expect(proxy.asked).toEqual(['socks5 ipv6 fd000000000000000000000000000005:81'])
  })
})

describe('the server name', () => {
  it.each([
    ['is checked if it is an IP address', undefined, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['may be overridden', 'only.example', undefined],
    ['may be overridden with an IP address', '10.9.8.7', undefined],
    ['is rejected if it is another IP address', '10.9.8.8', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('%s', async (_, serverName, code) => {
    const authority = await createAuthority('test')
    const pair = await authority.issue({
      subject: [{ CN: ['server'] }],
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 60_000),
      usage: 'server',
      alternativeNames: [
        { type: 'dns', value: 'only.example' },
        { type: 'ip', value: '10.9.8.7' },
      ],
    })
    await using server = await silent({ tls: pair })
    const checked = { ca: authority.certificate, serverName, insecure: false }
    const target = makeTarget(`https://127.0.0.1:${server.port}`, checked)
    const outcome = await attempt(target)
    if (code === undefined) expect(outcome).toBe('connected')
    else expect(outcome).toMatchObject({ code })
  })
})

describe('the key of a target', () => {
  it('differs for every proxy and login', () => {
    const urls = ['http://p:1', 'http://p:2', 'https://p:1', 'http://u:w@p:1', 'http://u:v@p:1']
    const keys = urls.map((url) => through(url).key)
    expect(new Set([...keys, makeTarget('https://api.example:6443', tls).key]).size).toBe(6)
    expect(through('http://u:w@p:1', undefined, 'HTTPS_PROXY').key).toBe(keys[3])
  })

  it('does not reveal user and password', () => {
    const target = through('http://jane-doe-77:hidden-4b81f0c2@p:1')
    expectNoLeak([target, target.key], ['jane-doe-77', 'hidden-4b81f0c2'])
  })
})

const echo = () => listen((socket) => socket.pipe(socket))

function say(socket: Socket, text: string): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (data: Buffer) => {
      socket.destroy()
      resolve(data.toString())
    })
    socket.write(text)
  })
}

function openSockets(): number {
  const kinds = ['TCPSocketWrap', 'TLSWrap', 'TCPConnectWrap', 'GetAddrInfoReqWrap']
  return process.getActiveResourcesInfo().filter((kind) => kinds.includes(kind)).length
}
