import { connect, type Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import type { SigningRequest } from '../../src/credential/signing-key.ts'
import { listen } from '../fixtures/proxies.ts'
import { type SoftwareKey, softwareKey } from './software-key.ts'
import {
  deferred,
  dialSigned,
  echo,
  eventually,
  failure,
  jane,
  openTcp,
  startServer,
} from './tls-server.ts'

/** A key that signs only when `confirm` is called. */
function slowKey(): SoftwareKey & { readonly asked: Promise<SigningRequest>; confirm(): void } {
  const asked = deferred<SigningRequest>()
  const confirmed = deferred()
  const key = softwareKey(jane.key, {
    sign: async (sign, request) => {
      asked.resolve(request)
      await confirmed.promise
      return sign()
    },
  })
  return { ...key, asked: asked.promise, confirm: () => confirmed.resolve() }
}

describe('while a signature is pending', () => {
  it('nothing is sent; afterwards the connection works', async () => {
    await using server = await startServer()
    const key = slowKey()
    const socket = await openTcp(server.port)
    const connecting = dialSigned(server.port, { socket, signingKey: key })
    await key.asked
    const sent = socket.bytesWritten
    await new Promise(setImmediate)
    expect(socket.bytesWritten).toBe(sent)
    expect(server.seen).toEqual([])
    key.confirm()
    const secured = await connecting
    expect(await echo(secured, 'hello')).toBe('hello')
    secured.destroy()
  })

  const leaving: [string, (socket: Socket) => void][] = [
    ['closes the connection', (socket) => socket.destroy()],
    ['ends its side', (socket) => socket.end()],
    ['resets the connection', (socket) => socket.resetAndDestroy()],
  ]
  it.each(leaving)(
    'a server that %s does not abort the signature, which is then too late',
    async (_, leave) => {
      const accepted = deferred<Socket>()
      await using server = await startServer()
      server.server.once('connection', accepted.resolve)
      const key = slowKey()
      const socket = await openTcp(server.port)
      const left = new Promise((resolve) => socket.once('end', resolve).once('close', resolve))
      let isSettled = false
      const connecting = failure(dialSigned(server.port, { socket, signingKey: key })).finally(
        () => {
          isSettled = true
        },
      )
      const { signal } = await key.asked
      leave(await accepted.promise)
      await left
      await new Promise(setImmediate)
      expect([isSettled, signal.aborted]).toEqual([false, false])
      key.confirm()
      expect(await connecting).toMatchObject({ code: 'ERR_SIGNED_TOO_LATE', retryable: true })
      expect(socket.destroyed).toBe(true)
    },
  )

  it('a server that sends garbage makes the signature too late', async () => {
    await using server = await startServer()
    const key = slowKey()
    await using middle = await listen((socket) => {
      const onward = connect(server.port, '127.0.0.1')
      socket.pipe(onward).pipe(socket)
      void key.asked.then(() => socket.write('nonsense, and not TLS'))
    })
    const socket = await openTcp(middle.port)
    const connecting = failure(dialSigned(middle.port, { socket, signingKey: key }))
    await key.asked
    const read = socket.bytesRead
    await eventually(() => expect(socket.bytesRead).toBeGreaterThan(read))
    key.confirm()
    expect(await connecting).toMatchObject({
      code: 'ERR_SIGNED_TOO_LATE',
      cause: expect.objectContaining({ code: expect.stringContaining('ERR_SSL') }),
    })
  })

  it('a key that fails after the server has closed is the reported error', async () => {
    const accepted = deferred<Socket>()
    await using server = await startServer()
    server.server.once('connection', accepted.resolve)
    const reason = new Error('wrong PIN')
    const left = deferred()
    const signingKey = softwareKey(jane.key, {
      sign: async () => {
        const socket = await accepted.promise
        socket.destroy()
        await left.promise
        throw reason
      },
    })
    const socket = await openTcp(server.port)
    socket.once('end', () => left.resolve()).once('close', () => left.resolve())
    expect(await failure(dialSigned(server.port, { socket, signingKey }))).toBe(reason)
  })
})

describe('an abort', () => {
  it('before the start sends nothing', async () => {
    await using server = await startServer()
    const reason = new Error('enough')
    const socket = await openTcp(server.port)
    const signal = AbortSignal.abort(reason)
    expect(await failure(dialSigned(server.port, { socket, signal }))).toBe(reason)
    expect([socket.destroyed, socket.bytesWritten]).toEqual([true, 0])
  })

  it('during the handshake rejects at once', async () => {
    await using server = await startServer()
    const abort = new AbortController()
    const socket = await openTcp(server.port)
    const connecting = failure(dialSigned(server.port, { socket, signal: abort.signal }))
    const reason = new Error('enough')
    abort.abort(reason)
    expect(await connecting).toBe(reason)
    expect(socket.destroyed).toBe(true)
    expect(server.seen).toEqual([])
  })

  it.each(['choose', 'sign'] as const)('rejects at once while %s is pending', async (where) => {
    await using server = await startServer()
    const asked = deferred<AbortSignal>()
    const signingKey = softwareKey(jane.key, {
      [where]: (_: unknown, given: AbortSignal | SigningRequest) => {
        asked.resolve('signal' in given ? given.signal : given)
        return new Promise(() => {})
      },
    })
    const abort = new AbortController()
    const socket = await openTcp(server.port)
    const options = { socket, signingKey, signal: abort.signal }
    const connecting = failure(dialSigned(server.port, options))
    const signal = await asked.promise
    expect(signal.aborted).toBe(false)
    const reason = new Error('enough')
    abort.abort(reason)
    expect(await connecting).toBe(reason)
    expect(signal.reason).toBe(reason)
    expect(socket.destroyed).toBe(true)
    await eventually(() => expect(server.failures).toHaveLength(1))
    expect(server.seen).toEqual([])
  })

  it('before the signature is ready discards the signature', async () => {
    await using server = await startServer()
    const key = slowKey()
    const abort = new AbortController()
    const connecting = failure(dialSigned(server.port, { signingKey: key, signal: abort.signal }))
    await key.asked
    abort.abort(new Error('enough'))
    key.confirm()
    expect(await connecting).toMatchObject({ message: 'enough' })
    await eventually(() => expect(server.failures).toHaveLength(1))
    expect(server.seen).toEqual([])
  })

  it('after the connection is open has no effect, and no listener is left', async () => {
    await using server = await startServer()
    const abort = new AbortController()
    const remove = vi.spyOn(abort.signal, 'removeEventListener')
    const key = slowKey()
    key.confirm()
    const socket = await dialSigned(server.port, { signingKey: key, signal: abort.signal })
    expect(remove).toHaveBeenCalledOnce()
    expect((await key.asked).signal.aborted).toBe(true)
    abort.abort()
    expect(await echo(socket, 'hello')).toBe('hello')
    socket.destroy()
  })
})

it('a server that closes before the key is called is reported as ECONNRESET', async () => {
  await using server = await startServer()
  server.server.on('connection', (socket: Socket) => socket.destroy())
  const signingKey = softwareKey(jane.key)
  const error = await failure(dialSigned(server.port, { signingKey }))
  expect(error).toMatchObject({ code: 'ECONNRESET' })
  expect(signingKey.offers).toEqual([])
})
