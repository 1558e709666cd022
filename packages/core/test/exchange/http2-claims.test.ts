import { describe, expect, it } from 'vitest'
import { answer, Http2Scene, textOf } from './http2-server.ts'

describe('an HTTP/2 server', () => {
  it('that claims other origins, or names another server for its own, changes nothing', async () => {
    await using other = await Http2Scene.open((stream) => answer(stream, 'from the other'))
    await using scene = await Http2Scene.open((stream) => answer(stream))
    await textOf((await scene.send('/first')).body)
    const [session] = scene.sessions
    const { origin, host } = new URL(other.target.origin)
    session?.origin(origin)
    session?.altsvc(`h2="${host}"; ma=86400`, scene.target.origin)
    for (const path of ['/second', '/third']) {
      expect(await textOf((await scene.send(path)).body)).toBe('ok')
    }
    expect([scene.sessions.length, scene.streams.length]).toEqual([1, 3])
    expect([other.sessions.length, other.streams.length]).toEqual([0, 0])
    await scene.derived.retire()
  })

  it('may not push', async () => {
    const allowed: boolean[] = []
    await using scene = await Http2Scene.open((stream) => {
      allowed.push(stream.pushAllowed)
      answer(stream)
    })
    await textOf((await scene.send('/')).body)
    expect(allowed).toEqual([false])
    await scene.derived.retire()
  })

  it('may name headers after members of objects', async () => {
    await using scene = await Http2Scene.open((stream) => {
      stream.respond({ ':status': 200, constructor: 'c', tostring: 't', ['__proto__']: 'p' })
      stream.end('ok')
    })
    const call = await scene.send('/')
    expect(call.headers['tostring']).toBe('t')
    expect(call.headers['location']).toBeUndefined()
    expect(await textOf(call.body)).toBe('ok')
    await scene.derived.retire()
  })
})
