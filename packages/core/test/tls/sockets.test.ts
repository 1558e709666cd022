import { once } from 'node:events'
import type { Socket } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { deferred, dialSigned, echo, eventually, openTcp, startServer } from './tls-server.ts'

const MEGABYTE = 2 ** 20

describe('a signed connection', () => {
  it('has the addresses of the underlying socket', async () => {
    await using server = await startServer()
    const socket = await openTcp(server.port)
    const secured = await dialSigned(server.port, { socket })
    expect(secured).toMatchObject({
      remoteAddress: '127.0.0.1',
      remotePort: server.port,
      remoteFamily: 'IPv4',
      localAddress: '127.0.0.1',
      localPort: socket.localPort,
      localFamily: 'IPv4',
    })
    expect(secured.address()).toEqual(socket.address())
    secured.destroy()
  })

  it.each([
    ['ref', []],
    ['unref', []],
    ['setKeepAlive', [true, 30_000]],
    ['setNoDelay', [true]],
  ] as const)('passes %s on to the underlying socket', async (method, args) => {
    await using server = await startServer()
    const socket = await openTcp(server.port)
    const call = vi.spyOn(socket, method)
    const secured = await dialSigned(server.port, { socket })
    const bound = (secured[method] as (...args: unknown[]) => unknown).bind(secured)
    expect(bound(...args)).toBe(secured)
    expect(call).toHaveBeenCalledExactlyOnceWith(...args)
    secured.destroy()
  })

  it('times out when it is idle', async () => {
    await using server = await startServer()
    const secured = await dialSigned(server.port)
    secured.setTimeout(20)
    await once(secured, 'timeout')
    secured.destroy()
  })

  it('exposes no secrets', async () => {
    await using server = await startServer()
    const secured = await dialSigned(server.port)
    await echo(secured, 'hello')
    const shown = inspect(secured, { depth: 6, showHidden: true, maxArrayLength: 10 })
    expect(shown).not.toMatch(/tracker|transcript|trafficSecret|#keys/i)
    expect(secured.listenerCount('keylog')).toBe(0)
    secured.destroy()
  })
})

describe('the end of a signed connection', () => {
  it('comes after both sides have ended and all bytes have arrived', async () => {
    await using server = await startServer({}, (socket) => {
      socket.resume()
      socket.on('end', () => socket.end(Buffer.alloc(MEGABYTE, 'x')))
    })
    const secured = await dialSigned(server.port)
    let got = 0
    secured.on('data', (chunk) => {
      got += chunk.length
    })
    secured.end('hello')
    await once(secured, 'close')
    expect(got).toBe(MEGABYTE)
    await eventually(() => expect(server.seen[0]?.destroyed).toBe(true))
  })

  it('comes after the last bytes of the server, however slowly they are read', async () => {
    await using server = await startServer({}, (socket) => {
      socket.end(Buffer.alloc(MEGABYTE, 'x'))
    })
    const socket = await openTcp(server.port)
    const secured = await dialSigned(server.port, { socket })
    let got = 0
    for await (const chunk of secured) {
      got += chunk.length
      await new Promise(setImmediate)
    }
    expect(got).toBe(MEGABYTE)
    await eventually(() => expect([secured.destroyed, socket.destroyed]).toEqual([true, true]))
  })

  it('comes after the last bytes of the server if the client has ended first', async () => {
    await using server = await startServer({ allowHalfOpen: true }, (socket) => {
      socket.resume().on('end', () => socket.end(Buffer.alloc(MEGABYTE, 'x')))
    })
    const secured = await dialSigned(server.port)
    secured.end('hello')
    let got = 0
    for await (const chunk of secured) {
      got += chunk.length
      // Slow enough for the socket to close before the reader is done.
      await new Promise((turn) => setTimeout(turn, 3))
    }
    expect(got).toBe(MEGABYTE)
  })

  it('comes when the server ends', async () => {
    await using server = await startServer({}, (socket) => socket.end('bye'))
    const socket = await openTcp(server.port)
    const secured = await dialSigned(server.port, { socket })
    await once(secured.resume(), 'close')
    expect(socket.destroyed).toBe(true)
  })

  it('waits until the pending writes of the client are flushed', async () => {
    let got = 0
    await using server = await startServer({ allowHalfOpen: true }, (socket) => {
      socket.end('bye')
      socket.on('data', (chunk) => {
        got += chunk.length
      })
    })
    const secured = await dialSigned(server.port)
    secured.write(Buffer.alloc(8 * MEGABYTE, 'x'))
    await once(secured.resume(), 'close')
    await eventually(() => expect(got).toBe(8 * MEGABYTE))
  })

  it('reaches the server if the client ends twice', async () => {
    await using server = await startServer()
    const secured = await dialSigned(server.port)
    secured.resume()
    secured.end()
    secured.end()
    await once(secured, 'close')
    await eventually(() => expect(server.seen[0]?.destroyed).toBe(true))
  })

  it('is an error event and a close event if the connection is reset', async () => {
    await using server = await startServer()
    const socket = await openTcp(server.port)
    const secured = await dialSigned(server.port, { socket })
    await echo(secured, 'hello')
    const closed = new Promise((resolve) => secured.once('close', resolve))
    const failed = new Promise((resolve) => secured.once('error', resolve))
    socket.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
    expect(await failed).toMatchObject({ code: 'ECONNRESET' })
    await closed
  })

  it('destroys the underlying socket', async () => {
    await using server = await startServer()
    const socket = await openTcp(server.port)
    const secured = await dialSigned(server.port, { socket })
    secured.destroy()
    await once(socket, 'close')
    expect(socket.destroyed).toBe(true)
  })

  it('follows when only the underlying socket is destroyed', async () => {
    await using server = await startServer()
    const socket = await openTcp(server.port)
    const secured = await dialSigned(server.port, { socket })
    socket.destroy()
    await once(secured, 'close')
    expect(secured.destroyed).toBe(true)
  })
})

describe('backpressure', () => {
  it('of the client stops the server', async () => {
    const accepted = deferred<Socket>()
    await using server = await startServer({}, (socket) => {
      socket.write(Buffer.alloc(64 * MEGABYTE, 'x'))
      accepted.resolve(socket)
    })
    const socket = await openTcp(server.port)
    const secured = await dialSigned(server.port, { socket })
    secured.pause()
    await accepted.promise
    await stable(() => socket.bytesRead)
    expect(socket.bytesRead).toBeLessThan(16 * MEGABYTE)
    let got = 0
    secured.on('data', (chunk) => {
      got += chunk.length
    })
    secured.resume()
    await eventually(() => expect(got).toBe(64 * MEGABYTE))
    secured.destroy()
  })

  it('of the server stops the client', async () => {
    await using server = await startServer({}, (socket) => socket.pause())
    const secured = await dialSigned(server.port)
    let isDone = false
    secured.write(Buffer.alloc(64 * MEGABYTE, 'x'), () => {
      isDone = true
    })
    expect(secured.writableNeedDrain).toBe(true)
    await eventually(() => expect(server.seen).toHaveLength(1))
    await stable(() => server.seen[0]?.bytesRead ?? 0)
    expect(isDone).toBe(false)
    server.seen[0]?.resume()
    await eventually(() => expect(isDone).toBe(true))
    secured.destroy()
  })
})

it('a signed connection keeps the process alive until unref', async () => {
  await using server = await startServer()
  const count = () =>
    process.getActiveResourcesInfo().filter((kind) => /TCPSocket/.test(kind)).length
  const secured = await dialSigned(server.port)
  await echo(secured, 'hello')
  const before = count()
  secured.unref()
  expect(count()).toBe(before - 1)
  secured.ref()
  expect(count()).toBe(before)
  secured.destroy()
})

/** Waits until a number no longer changes. */
async function stable(read: () => number): Promise<void> {
  for (let last = -1; last !== read(); ) {
    last = read()
    await new Promise((turn) => setTimeout(turn, 100))
  }
}
