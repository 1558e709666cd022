import { once } from 'node:events'
import { connect, type ServerHttp2Stream } from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { makePair } from '../fixtures/make-certificates.ts'
import { answer, Http2Scene, insecureTarget, textOf } from './http2-server.ts'

describe('the connections of an identity', () => {
  const hold = (stream: ServerHttp2Stream): void => stream.respond({ ':status': 200 })

  it('close after the last stream when the identity is retired, and still serve requests that hold its lease', async () => {
    await using scene = await Http2Scene.open((stream, headers) =>
      headers[':path'] === '/watch' ? hold(stream) : answer(stream),
    )
    const watch = await scene.send('/watch')
    let isDone = false
    const retired = scene.derived.retire().then(() => {
      isDone = true
    })
    // Sent while the identity is being retired.
    expect(await textOf((await scene.send('/late')).body)).toBe('ok')
    await nextTurn()
    expect(await textOf((await scene.send('/later')).body)).toBe('ok')
    expect(isDone).toBe(false)
    scene.streams[0]?.end('last')
    expect(await textOf(watch.body)).toBe('last')
    await retired
    // A late request still opens a connection.
    expect(await textOf((await scene.send('/latest')).body)).toBe('ok')
    expect(scene.sessions).toHaveLength(2)
    for (const session of scene.sessions) if (!session.destroyed) await once(session, 'close')
  })

  it('end at once with the reason when the identity is destroyed', async () => {
    await using scene = await Http2Scene.open((stream, headers) => {
      if (headers[':path'] === '/watch') hold(stream)
    })
    const watch = await scene.send('/watch')
    const waits = scene.send('/waits')
    const reads = textOf(watch.body)
    await expect.poll(() => scene.streams.length).toBe(2)
    void scene.derived.destroy(new Error('destroyed by the test'))
    await expect(reads).rejects.toThrow('destroyed by the test')
    await expect(waits).rejects.toThrow('destroyed by the test')
    await expect(scene.send('/late')).rejects.toThrow('destroyed by the test')
  })
})

describe('a session', () => {
  // Node's callbacks run inside nghttp2, where a session must not be destroyed: see `afterNghttp2`.
  it('is never destroyed while Node reads from it', async () => {
    const calls = spyOnDestroy()
    await using scene = await Http2Scene.open((stream, headers) => {
      answer(stream)
      // The server sends GOAWAY while the last stream ends.
      if (headers[':path'] === '/leave') scene.sessions.at(-1)?.close()
    })
    await textOf((await scene.send('/leave')).body)
    await expect.poll(() => scene.sessions[0]?.destroyed).toBe(true)
    // The identity is retired by the caller that got the response.
    await scene.send('/').then(() => scene.derived.retire())
    // The identity is destroyed there, too.
    await scene.send('/').then(() => scene.derived.destroy(new Error('destroyed by the test')))
    expect(calls.length).toBeGreaterThanOrEqual(3)
    for (const stack of calls) expect(stack).toContain('processImmediate')
  })
})

/** Records the stack of every call of `destroy` by our code. */
function spyOnDestroy(): readonly string[] {
  const session = connect('http://127.0.0.1:1').on('error', () => {})
  const common = Object.getPrototypeOf(Object.getPrototypeOf(session)) as typeof session
  session.destroy()
  const stacks: string[] = []
  const { destroy } = common
  const spy = vi.spyOn(common, 'destroy').mockImplementation(function (this: unknown, ...args) {
    const { stack = '' } = new Error('here')
    if (stack.includes('http2-connection')) stacks.push(stack)
    return destroy.apply(this as typeof session, args)
  })
  onTestFinished(() => spy.mockRestore())
  return stacks
}

describe('a server without HTTP/2', () => {
  it('causes an error that names the server and what to do', async () => {
    const { certificate, key } = await makePair()
    const server = createServer({ cert: certificate, key }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await using scene = await Http2Scene.open(() => {})
    for (const scheme of ['https', 'http']) {
      const target = insecureTarget(`${scheme}://127.0.0.1:${port}`)
      await expect(scene.send('/', {}, target)).rejects.toMatchObject({
        code: 'ERR_NOT_SUPPORTED',
        message: expect.stringContaining(`${target.origin} does not support HTTP/2`),
        hint: expect.stringContaining('Leave'),
      })
    }
  })
})
