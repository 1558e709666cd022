import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type DialOptions, dial } from '../../src/dial/dial.ts'
import { parseProxyUrl } from '../../src/dial/proxy.ts'
import { dialHttp2, HTTP2_TIMEOUTS } from '../../src/exchange/http2-connection.ts'
import { Secret } from '../../src/secret/secret.ts'
import { isRunning } from '../fixtures/processes.ts'
import { listen, proxyUrl, startConnectProxy, startSocksProxy } from '../fixtures/proxies.ts'
import { SignerFixture } from '../fixtures/signer-fixture.ts'
import { type Misbehaviour, softwareKey } from '../tls/software-key.ts'
import { deferred, echo, eventually, failure, jane, startServer } from '../tls/tls-server.ts'
import { Opened, signedPair, targetAt } from './signed-server.ts'

const MINUTE_MS = 60_000
const opened: Socket[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const socket of opened.splice(0)) socket.destroy()
})

/** Dials as jane with a key that misbehaves as given. */
function open(port: number, habits: Misbehaviour = {}, options: DialOptions = {}) {
  const key = softwareKey(jane.key, habits)
  const dialing = dial(targetAt(port), signedPair(key), options)
  const tracked = dialing.then((socket) => {
    opened.push(socket)
    return socket as TLSSocket
  })
  return { key, dialing: tracked }
}

const userOf = (socket: TLSSocket | undefined) => socket?.getPeerCertificate().subject.CN

describe('the timeout of a dial', () => {
  it.each(['choose', 'sign'] as const)(
    'is extended while %s of the signing key is pending',
    async (what) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      await using server = await startServer()
      const asked = deferred()
      const answered = deferred()
      const habits: Misbehaviour = {
        [what]: async (given: unknown) => {
          asked.resolve()
          await answered.promise
          return what === 'choose' ? 'ecdsa_secp256r1_sha256' : (given as () => Buffer)()
        },
      }
      const { key, dialing } = open(server.port, habits)
      await asked.promise
      vi.advanceTimersByTime(9 * MINUTE_MS)
      answered.resolve()
      expect(await echo(await dialing, 'hello')).toBe('hello')
      // On the first connection: a lost one would be retried.
      expect([key.offers.length, key.requests.length]).toEqual([1, 1])
      // No timer is left that could close it.
      expect(vi.getTimerCount()).toBe(0)
    },
  )

  it('applies before the signature: a silent server is disconnected', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await using silent = await listen((socket) => socket.resume())
    const { key, dialing } = open(silent.port)
    const failed = failure(dialing)
    await eventuallyNow(() => silent.open.size === 1)
    vi.advanceTimersByTime(MINUTE_MS)
    expect(await failed).toMatchObject({ code: 'ETIMEDOUT' })
    expect(key.offers).toEqual([])
    await eventuallyNow(() => silent.open.size === 0)
  })
})

describe('a dial that is aborted while a signature is pending', () => {
  it('closes the socket and aborts the signal of the signing key', async () => {
    await using server = await startServer()
    let connections = 0
    server.server.on('connection', (socket: Socket) => {
      connections += 1
      socket.on('close', () => {
        connections -= 1
      })
    })
    const asked = deferred()
    const abort = new AbortController()
    const never: Misbehaviour = {
      sign: () => {
        asked.resolve()
        return new Promise(() => {})
      },
    }
    const { key, dialing } = open(server.port, never, { signal: abort.signal })
    const failed = failure(dialing)
    await asked.promise
    expect(connections).toBe(1)
    const reason = new Error('enough')
    abort.abort(reason)
    expect(await failed).toBe(reason)
    expect(key.requests[0]?.signal.aborted).toBe(true)
    await eventually(() => expect(connections).toBe(0))
    expect(server.seen).toHaveLength(0)
  })

  it.runIf(existsSync('/proc/self'))('ends the process of the signer', async () => {
    await using server = await startServer()
    await using signer = new SignerFixture({ certificate: jane.chain, key: jane.key })
    const signingKey = await signer.key({ behaviour: 'hangs', only: 'signature' })
    const abort = new AbortController()
    const failed = failure(
      dial(targetAt(server.port), signedPair(signingKey), { signal: abort.signal }),
    )
    const pids = (): number[] =>
      signer.log().flatMap(({ pid, child }) => (child ? [pid, child] : []))
    await eventually(() => expect(pids()).toHaveLength(2))
    expect(pids().every(isRunning)).toBe(true)
    const reason = new Error('enough')
    abort.abort(reason)
    expect(await failed).toBe(reason)
    await eventually(() => expect(pids().filter(isRunning)).toEqual([]))
  })
})

/** A server that disconnects clients whose handshake takes longer than this. */
async function startWithShortTimeout(ms: number) {
  const server = await startServer({ handshakeTimeout: ms })
  server.server.on('tlsClientError', (_, socket) => socket.destroy())
  return server
}

describe('a server that closes while a signature is pending', () => {
  it('is dialled a second time, and not a third time', async () => {
    using connections = new Opened()
    await using server = await startWithShortTimeout(300)
    const late: Misbehaviour = {
      sign: async (sign) => {
        await connections.isLeft(-1)
        return sign()
      },
    }
    const { key, dialing } = open(server.port, late)
    expect(await failure(dialing)).toMatchObject({ code: 'ERR_SIGNED_TOO_LATE' })
    expect(key.requests).toHaveLength(2)
    expect(connections.sockets).toHaveLength(2)
  })

  it('is reached when only the first signature is slow', async () => {
    using connections = new Opened()
    await using server = await startWithShortTimeout(1500)
    const { key, dialing } = open(server.port, slowFirst(connections))
    expect(await echo(await dialing, 'hello')).toBe('hello')
    expect(key.requests).toHaveLength(2)
    expect(server.seen.map(userOf)).toEqual(['jane'])
  })
})

/** Delays the first signature until the server has closed. */
function slowFirst(connections: Opened): Misbehaviour {
  let count = 0
  return {
    sign: async (sign) => {
      count += 1
      if (count === 1) await connections.isLeft(-1)
      return sign()
    },
  }
}

describe('a server that', () => {
  it('requests no certificate causes no signature', async () => {
    await using server = await startServer({ requestCert: false })
    const { key, dialing } = open(server.port)
    expect(await echo(await dialing, 'hello')).toBe('hello')
    expect([key.offers, key.requests]).toEqual([[], []])
  })

  it.each([
    ['does not support ALPN', {}],
    ['speaks HTTP/1.1 only', { ALPNProtocols: ['http/1.1'] }],
  ])('%s is rejected for HTTP/2 before anything is signed', async (_, tls) => {
    await using server = await startServer(tls)
    const key = softwareKey(jane.key)
    const { signal } = new AbortController()
    const options = { times: HTTP2_TIMEOUTS, signal, onChange: () => {} }
    const dialing = dialHttp2(targetAt(server.port), signedPair(key), options)
    expect(await failure(dialing)).toMatchObject({ code: 'ERR_NOT_SUPPORTED' })
    expect([key.offers, key.requests]).toEqual([[], []])
    expect(server.seen).toHaveLength(0)
  })
})

describe('a proxy', () => {
  it.each([
    ['http', startConnectProxy, 'CONNECT 127.0.0.1:'],
    ['socks5', startSocksProxy, 'socks5 ipv4 127.0.0.1:'],
  ] as const)('forwards a signed connection: %s', async (scheme, start, asked) => {
    await using server = await startServer()
    await using proxy = await start({ to: server.port })
    const key = softwareKey(jane.key)
    const way = parseProxyUrl(new Secret(proxyUrl(scheme, proxy.port)), 'proxy-url')
    const socket = (await dial(targetAt(server.port, way), signedPair(key))) as TLSSocket
    opened.push(socket)
    expect(await echo(socket, 'hello')).toBe('hello')
    expect(server.seen.map(userOf)).toEqual(['jane'])
    expect(proxy.asked).toEqual([`${asked}${server.port}`])
    expect(key.requests).toHaveLength(1)
  })

  it.each([
    ['http', startConnectProxy],
    ['socks5', startSocksProxy],
  ] as const)('is used again after a signature that was too late: %s', async (scheme, start) => {
    using connections = new Opened()
    await using server = await startWithShortTimeout(1500)
    await using proxy = await start({ to: server.port })
    const key = softwareKey(jane.key, {
      sign: async (sign) => {
        // The client's and the proxy's: both are in this process.
        if (connections.sockets.length === 2) await connections.isLeft(0)
        return sign()
      },
    })
    const way = parseProxyUrl(new Secret(proxyUrl(scheme, proxy.port)), 'proxy-url')
    const socket = (await dial(targetAt(server.port, way), signedPair(key))) as TLSSocket
    opened.push(socket)
    expect(await echo(socket, 'hello')).toBe('hello')
    expect(proxy.asked).toHaveLength(2)
    expect(key.requests).toHaveLength(2)
  })
})

/** Waits for the network while timers are faked. */
async function eventuallyNow(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((turn) => setImmediate(turn))
}
