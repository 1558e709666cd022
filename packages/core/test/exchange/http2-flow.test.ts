import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { answer, Http2Scene, insecureTarget, textOf } from './http2-server.ts'

const CHUNK = Buffer.alloc(64 * 1024, 'x')
const CHUNKS = 512
const TOTAL = CHUNK.length * CHUNKS
/** More than the window of a stream and the buffers of the streams in between. */
const MAX_IN_FLIGHT = 4 * 1024 * 1024

describe('a large body', () => {
  it('waits for a slow reader of the response, and does not delay other requests', async () => {
    let given = 0
    const source = (): Readable =>
      Readable.from(
        (function* () {
          for (let count = 0; count < CHUNKS; count += 1) {
            given += CHUNK.length
            yield CHUNK
          }
        })(),
      )
    await using scene = await Http2Scene.open((stream, headers) => {
      if (headers[':path'] !== '/large') return answer(stream)
      stream.respond({ ':status': 200 })
      source().pipe(stream)
    })
    const large = await scene.send('/large')
    for (let count = 0; count < 50; count += 1) await textOf((await scene.send('/')).body)
    expect(given).toBeGreaterThan(0)
    expect(given).toBeLessThan(MAX_IN_FLIGHT)
    expect(await sizeOf(large.body)).toBe(TOTAL)
    expect(scene.sessions).toHaveLength(1)
  })

  it('waits for a server that reads the request slowly', async () => {
    let given = 0
    const body = Readable.from(
      (async function* () {
        for (let count = 0; count < CHUNKS; count += 1) {
          given += CHUNK.length
          yield CHUNK
        }
      })(),
    )
    await using scene = await Http2Scene.open((stream, headers) => {
      if (headers[':path'] !== '/large') answer(stream)
    })
    const sent = scene.send('/large', { method: 'POST', body })
    await expect.poll(() => scene.streams.length).toBe(1)
    for (let count = 0; count < 50; count += 1) await textOf((await scene.send('/')).body)
    expect(given).toBeGreaterThan(0)
    expect(given).toBeLessThan(MAX_IN_FLIGHT)
    const [stream] = scene.streams
    if (stream === undefined) throw new Error('no stream')
    expect(await sizeOf(stream)).toBe(TOTAL)
    answer(stream)
    expect((await sent).statusCode).toBe(200)
  })

  it('in memory arrives completely', async () => {
    await using scene = await Http2Scene.open((stream) => {
      void sizeOf(stream).then((size) => answer(stream, String(size)))
    })
    const { body } = await scene.send('/', { method: 'PUT', body: Buffer.alloc(TOTAL) })
    expect(await textOf(body)).toBe(String(TOTAL))
  })

  it('that fails while it is sent ends the request', async () => {
    await using scene = await Http2Scene.open((stream) => stream.resume())
    const body = new Readable({ read() {} })
    body.push(CHUNK)
    const sent = scene.send('/', { method: 'POST', body })
    await expect.poll(() => scene.streams.length).toBe(1)
    body.destroy(new Error('the disk is gone'))
    await expect(sent).rejects.toThrow('the disk is gone')
  })
})

async function sizeOf(stream: Readable): Promise<number> {
  let size = 0
  for await (const chunk of stream) size += (chunk as Buffer).length
  return size
}

describe('a connection on which no data arrives', () => {
  const times = { checkIntervalMs: 10, readIdleTimeoutMs: 30, pingTimeoutMs: 200 }

  it('is pinged, and stays open if the server responds', async () => {
    await using scene = await Http2Scene.open((stream) => stream.respond({ ':status': 200 }), {
      times,
    })
    const { body } = await scene.send('/watch')
    const [session] = scene.sessions
    if (session === undefined) throw new Error('no session')
    for (let pings = 0; pings < 3; pings += 1) await once(session, 'ping')
    scene.streams[0]?.end('still here')
    expect(await textOf(body)).toBe('still here')
  })

  it('ends with an error if the server does not respond, and the next request opens another', async () => {
    await using scene = await Http2Scene.open(
      (stream, headers) =>
        headers[':path'] === '/watch' ? stream.respond({ ':status': 200 }) : answer(stream),
      { times },
    )
    const { target, freeze } = await startFreezer(Number(new URL(scene.target.origin).port))
    const { body } = await scene.send('/watch', {}, target)
    freeze()
    await expect(textOf(body)).rejects.toMatchObject({
      code: 'ETIMEDOUT',
      message: expect.stringContaining('no response to an HTTP/2 ping'),
    })
    expect(await textOf((await scene.send('/', {}, target)).body)).toBe('ok')
  })

  it('is not pinged while no stream is open', async () => {
    await using scene = await Http2Scene.open((stream) => answer(stream), { times })
    await textOf((await scene.send('/')).body)
    const [session] = scene.sessions
    let pings = 0
    session?.on('ping', () => {
      pings += 1
    })
    await new Promise((resolve) => setTimeout(resolve, 10 * times.readIdleTimeoutMs))
    expect(pings).toBe(0)
  })
})

/** Forwards connections until it is frozen; then it keeps them open and forwards nothing. */
async function startFreezer(port: number) {
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => {}).on('close', () => open.delete(socket))
    }
    client.pipe(upstream).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return {
    target: insecureTarget(`https://127.0.0.1:${(server.address() as AddressInfo).port}`),
    freeze: () => {
      for (const socket of open) socket.unpipe().pause()
    },
  }
}
