import { once } from 'node:events'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { answer, Http2Scene, textOf } from './http2-server.ts'

/** Collects streams, and responds to all of them when there are `count`. */
function answerTogether(count: number): (stream: ServerHttp2Stream) => void {
  const held: ServerHttp2Stream[] = []
  return (stream) => {
    held.push(stream)
    if (held.length === count) for (const each of held) answer(each)
  }
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

describe('a request that Node cannot send', () => {
  it.each(['x y', 'x\r\ny', 'x\ty', 'x:y', 'é'])('fails, and only once: %j', async (name) => {
    await using scene = await Http2Scene.open((stream) => answer(stream))
    await textOf((await scene.send('/first')).body)
    await expect(scene.send('/', { headers: { [name]: 'value' } })).rejects.toThrow(/.+/)
    // Later requests are served.
    expect(await textOf((await scene.send('/next')).body)).toBe('ok')
    expect(scene.streams).toHaveLength(2)
    // Node 20 ends the connection for it, newer versions only the request.
    expect(scene.sessions.length).toBeLessThanOrEqual(2)
    await scene.derived.retire()
  })
})

describe('connections', () => {
  it('carry 500 requests at once on one connection', async () => {
    const settings = { maxConcurrentStreams: 1000 }
    await using scene = await Http2Scene.open(answerTogether(501), { settings })
    // With the first connection, the limit of the server is known.
    const first = scene.send('/first')
    await expect.poll(() => scene.streams.length).toBe(1)
    const answers = await Promise.all([first, ...times(500, (index) => scene.send(`/${index}`))])
    const texts = await Promise.all(answers.map(({ body }) => textOf(body)))
    expect(new Set(texts)).toEqual(new Set(['ok']))
    expect(scene.sessions).toHaveLength(1)
  })

  it('are opened as needed for a server with few streams per connection, and are reused', async () => {
    const settings = { maxConcurrentStreams: 4 }
    await using scene = await Http2Scene.open(answerTogether(20), { settings })
    const answers = await Promise.all(times(20, (index) => scene.send(`/${index}`)))
    await Promise.all(answers.map(({ body }) => textOf(body)))
    expect(scene.sessions).toHaveLength(5)
    // A place becomes free one turn of the event loop after the last byte.
    await nextTurn()
    const again = Promise.all(times(20, (index) => scene.send(`/again-${index}`)))
    await expect.poll(() => scene.streams.length).toBe(40)
    for (const stream of scene.streams.slice(20)) answer(stream)
    await again
    expect(scene.sessions).toHaveLength(5)
  })

  it('are replaced after GOAWAY: open streams continue, new requests open a new connection', async () => {
    await using scene = await Http2Scene.open((stream, headers) => {
      if (headers[':path'] !== '/watch') return answer(stream)
      stream.respond({ ':status': 200 })
      stream.write('before ')
    })
    const watch = await scene.send('/watch', { isStream: true })
    const text = textOf(watch.body)
    const [old] = scene.sessions
    old?.close()
    await expect
      .poll(async () => {
        await textOf((await scene.send('/next')).body)
        return scene.sessions.length
      })
      .toBe(2)
    scene.streams[0]?.end('after')
    expect(await text).toBe('before after')
  })

  it('that are idle are closed', async () => {
    const idle = { checkIntervalMs: 10, idleTimeoutMs: 20 }
    await using scene = await Http2Scene.open((stream) => answer(stream), { times: idle })
    await textOf((await scene.send('/')).body)
    const [session] = scene.sessions
    if (session?.destroyed === false) await once(session, 'close')
    expect((await scene.send('/again')).statusCode).toBe(200)
    expect(scene.sessions).toHaveLength(2)
  })

  it('do not retain responses that are never read', async () => {
    await using scene = await Http2Scene.open((stream) => answer(stream))
    let arrived = 0
    const unread = await Promise.all(times(50, () => scene.send('/')))
    for (const call of unread) {
      call.whenOver(() => {
        arrived += 1
      })
    }
    await expect.poll(() => arrived).toBe(50)
    // Resolves when nothing is in flight; it would wait forever for a response that must be read.
    await scene.derived.retire()
    expect(await textOf(unread[7]?.body ?? never())).toBe('ok')
  })
})

function never(): never {
  throw new Error('there is no such response')
}

const isInList = (value: string): boolean => value === 'one' || value === 'two'

describe('a request', () => {
  it('has the same headers in HTTP/2 as in HTTP/1.1', async () => {
    await using scene = await Http2Scene.open((stream, headers, raw) =>
      answer(stream, JSON.stringify({ ...headers, 'x-list': raw.filter(isInList) })),
    )
    const raw = { 'x-list': ['one', 'two'], host: 'elsewhere', connection: 'close' }
    const hops = { 'keep-alive': '5', te: 'gzip', upgrade: 'h2c', 'transfer-encoding': 'chunked' }
    const body = new TextEncoder().encode('hello')
    const {
      statusText,
      headers,
      body: content,
    } = await scene.send('/path?x=1', {
      method: 'POST',
      headers: { ...raw, ...hops, 'proxy-connection': 'x', authorization: 'Bearer t' },
      body,
    })
    const heard = JSON.parse(await textOf(content)) as Record<string, unknown>
    expect(heard).toMatchObject({
      ':method': 'POST',
      ':path': '/path?x=1',
      ':scheme': 'https',
      ':authority': new URL(scene.target.origin).host,
      authorization: 'Bearer t',
      'content-length': '5',
      'x-list': ['one', 'two'],
    })
    for (const name of ['host', 'connection', ...Object.keys(hops)]) {
      expect(heard).not.toHaveProperty(name)
    }
    expect(statusText).toBe('')
    expect(Object.keys(headers).filter((name) => name.startsWith(':'))).toEqual([])
  })

  it.each(['GET', 'POST'])('that the server did not process is sent again (%s)', async (method) => {
    await using scene = await Http2Scene.open((stream) => {
      if (scene.streams.length === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM)
      else if (method === 'GET') answer(stream)
      else void textOf(stream).then((text) => answer(stream, text))
    })
    const body = method === 'POST' ? new TextEncoder().encode('content') : undefined
    const response = await scene.send('/', { method, body })
    expect(await textOf(response.body)).toBe(method === 'POST' ? 'content' : 'ok')
    expect(scene.streams).toHaveLength(2)
  })

  it('that is always refused fails after a few tries', async () => {
    await using scene = await Http2Scene.open((stream) =>
      stream.close(constants.NGHTTP2_REFUSED_STREAM),
    )
    await expect(scene.send('/')).rejects.toThrow('REFUSED_STREAM')
    expect(scene.streams).toHaveLength(4)
  })

  it('on a connection that breaks is sent once more if its method is safe', async () => {
    await using scene = await Http2Scene.open((stream, headers) => {
      if (headers[':path'] === '/always' || scene.streams.length === 1) stream.session?.destroy()
      else answer(stream)
    })
    expect((await scene.send('/')).statusCode).toBe(200)
    expect(scene.streams).toHaveLength(2)
    await expect(scene.send('/always')).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(scene.streams).toHaveLength(4)
    const write = scene.send('/always', { method: 'POST', body: new Uint8Array(1) })
    await expect(write).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(scene.streams).toHaveLength(5)
  })

  it('is cancelled on the server when its signal aborts', async () => {
    await using scene = await Http2Scene.open(() => {})
    const leaving = new AbortController()
    const sent = scene.send('/', { signal: leaving.signal })
    await expect.poll(() => scene.streams.length).toBe(1)
    leaving.abort(new Error('enough'))
    await expect(sent).rejects.toThrow('enough')
    const [stream] = scene.streams
    if (stream?.closed === false) await once(stream, 'close')
    expect(stream?.rstCode).toBe(constants.NGHTTP2_CANCEL)
  })
})

describe('a response', () => {
  const begin = (stream: ServerHttp2Stream): void => {
    stream.respond({ ':status': 200 })
    stream.write('begun')
  }

  it.each([
    ['is aborted', 'enough'],
    ['is thrown away', undefined],
  ])('that %s ends its stream only', async (_what, reason) => {
    await using scene = await Http2Scene.open(begin)
    const leaving = new AbortController()
    const { body } = await scene.send('/', { signal: leaving.signal })
    const other = await scene.send('/other')
    const closed = once(body, 'close')
    const failure = once(body, 'error').catch(() => {})
    if (reason === undefined) body.destroy()
    else leaving.abort(new Error(reason))
    await closed.catch(() => {})
    if (reason !== undefined) expect(await failure).toMatchObject([{ message: reason }])
    const [stream, stillOpen] = scene.streams
    if (stream?.closed === false) await once(stream, 'close')
    expect(stream?.rstCode).toBe(constants.NGHTTP2_CANCEL)
    stillOpen?.end(' and done')
    expect(await textOf(other.body)).toBe('begun and done')
  })

  it('that the server did not finish fails', async () => {
    await using scene = await Http2Scene.open(begin)
    const { body } = await scene.send('/')
    const text = textOf(body)
    await expect.poll(() => scene.streams.length).toBe(1)
    scene.drop()
    await expect(text).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it('that the server cuts off fails', async () => {
    await using scene = await Http2Scene.open(begin)
    const { body } = await scene.send('/')
    scene.streams[0]?.destroy(new Error('a fault of the server'))
    await expect(textOf(body)).rejects.toThrow('INTERNAL_ERROR')
  })
})
