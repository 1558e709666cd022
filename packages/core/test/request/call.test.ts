import { once } from 'node:events'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { Refusal } from '../../src/credential/credential.ts'
import type { Exchange, Sendable } from '../../src/exchange/exchange.ts'
import { CallbackController, NoResponseError } from '../../src/exchange/handler.ts'
import type { Lease } from '../../src/keeper/lease.ts'
import type { LeaseProvider } from '../../src/keeper/lease-provider.ts'
import { ResourceCache } from '../../src/keeper/resource-cache.ts'
import { withStreamBody } from '../../src/request/outgoing-request.ts'
import { later, leaseOf, open, target, text } from './call-stage.ts'
import { lineTo, sendOver } from './line-to.ts'

describe('a place at the gate', () => {
  const ONE = { requests: 1, streams: 1 }

  it('is given back while the request waits for its credential', async () => {
    const { ask, give } = later()
    const lease = vi
      .fn<LeaseProvider['lease']>()
      .mockImplementationOnce(ask)
      .mockReturnValue(leaseOf(2))
    const { send, sent } = open({ limits: ONE, access: { lease } })
    const first = send()
    const second = send()
    expect(sent).toHaveLength(1)
    sent[0]?.answer(200, 'second')
    expect(await text(await second)).toBe('second')
    await give(leaseOf(1))
    sent[1]?.answer(200, 'first')
    expect(await text(await first)).toBe('first')
    expect(ask).toHaveBeenCalledTimes(1)
    expect(sent[1]?.headers).toMatchObject({ authorization: 'Bearer t1' })
  })

  it('is taken before the credential, which may change while the request is queued', async () => {
    let ticket = 1
    const { send, sent } = open({ limits: ONE, access: { lease: () => leaseOf(ticket) } })
    void send()
    const second = send()
    ticket = 2
    sent[0]?.answer(200)
    await nextTurn()
    sent[1]?.answer(200)
    await second
    expect(sent[1]?.headers).toMatchObject({ authorization: 'Bearer t2' })
  })

  it('is given back when no credential is available', async () => {
    const lease = vi.fn<LeaseProvider['lease']>(() => {
      throw new Error('none')
    })
    const { send, line } = open({ limits: ONE, access: { lease } })
    await expect(send()).rejects.toThrow('none')
    lease.mockImplementation(() => Promise.reject(new Error('none in time')))
    await expect(send()).rejects.toThrow('none in time')
    expect(line.gate.enter()).not.toBeInstanceOf(Promise)
    expect(line.calls.size).toBe(0)
  })

  it('is not taken by a request that is aborted while it is queued', async () => {
    const { send, sent } = open({ limits: ONE })
    const first = send()
    const own = new AbortController()
    const queued = send('/queued', { signal: own.signal })
    const third = send('/third')
    own.abort(new Error('never mind'))
    await expect(queued).rejects.toThrow('never mind')
    sent[0]?.answer(200)
    await first
    await nextTurn()
    expect(sent.map(({ call }) => call.path)).toEqual(['/version', '/third'])
    sent[1]?.answer(200)
    await third
  })

  it('is free when the response has arrived, even if it is never read', async () => {
    const { send, sent } = open({ limits: ONE })
    const unread = send()
    sent[0]?.answer(200, 'never read')
    await unread
    const next = send()
    sent[1]?.answer(200)
    expect((await next).statusCode).toBe(200)
  })
})

describe('a response', () => {
  it('is buffered up to a limit; beyond that its connection is paused until it is read', async () => {
    const { send, sent } = open()
    const promise = send()
    const [one] = sent
    one?.begin(200)
    const call = await promise
    one?.data('x'.repeat(64 * 1024))
    expect(one?.controller.paused).toBe(false)
    one?.data('y')
    expect(one?.controller.paused).toBe(true)
    const read = call.readAll(({ length }) => length)
    expect(one?.controller.paused).toBe(false)
    one?.data('z')
    one?.end()
    expect(await read).toBe(64 * 1024 + 2)
  })

  it('as a stream pauses and resumes with its reader', async () => {
    const { send, sent } = open()
    const promise = send()
    const [one] = sent
    one?.begin(200)
    const { body } = await promise
    one?.data('x'.repeat(70_000))
    expect(one?.controller.paused).toBe(true)
    let size = 0
    body.on('data', (chunk: Buffer) => {
      size += chunk.length
    })
    await nextTurn()
    expect(one?.controller.paused).toBe(false)
    one?.end()
    await nextTurn()
    expect(size).toBe(70_000)
  })

  it('that breaks off fails its reader, whether or not it has started to read', async () => {
    const { send, sent } = open()
    for (const order of ['before', 'after']) {
      const promise = send()
      const one = sent.at(-1)
      one?.begin(200)
      const call = await promise
      const read = order === 'after' ? text(call) : undefined
      one?.fail(new Error('cut'))
      await expect(read ?? text(call)).rejects.toThrow('cut')
    }
  })

  it('ends when its body is destroyed, or its signal aborts', async () => {
    const { send, sent, line } = open()
    const own = new AbortController()
    const promises = [send('/a'), send('/b', { signal: own.signal })]
    for (const one of sent) one.begin(200)
    const [destroyed, aborted] = await Promise.all(promises)
    destroyed?.body.destroy()
    const read = aborted && text(aborted)
    own.abort(new Error('enough'))
    await expect(read).rejects.toThrow('enough')
    await nextTurn()
    for (const { onAbort } of sent) expect(onAbort).toHaveBeenCalledTimes(1)
    expect(line.calls.size).toBe(0)
  })
})

describe('a refusal', () => {
  it('is replaced by the response to a new credential', async () => {
    const { ask, give } = later()
    const report = vi.fn()
    const { send, sent } = open({ access: { replace: ask, report } })
    const promise = send()
    sent[0]?.answer(401, 'refused')
    await give(leaseOf(2))
    sent[1]?.answer(200, 'better')
    const call = await promise
    expect([call.statusCode, await text(call)]).toEqual([200, 'better'])
    expect(sent[1]?.headers).toMatchObject({ authorization: 'Bearer t2' })
    expect(report).toHaveBeenCalledExactlyOnceWith({
      type: 'retried',
      method: 'GET',
      path: '/version',
    })
  })

  it('is returned to the caller when there is no new credential', async () => {
    const replace = vi.fn(async (_: Lease, __: Refusal) => undefined)
    const { send, sent } = open({ access: { replace } })
    const promise = send()
    sent[0]?.begin(401, { 'www-authenticate': 'Bearer' })
    sent[0]?.data('refused')
    await nextTurn()
    const call = await promise
    sent[0]?.end()
    expect([call.statusCode, call.statusText, await text(call)]).toEqual([401, 'said', 'refused'])
    expect(replace.mock.lastCall?.[1]).toEqual({
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
    })
  })

  it('of the last try is reported and returned at once', async () => {
    const reject = vi.fn()
    const { send, sent } = open({ access: { replace: async () => leaseOf(2), reject } })
    const promise = send()
    sent[0]?.answer(401)
    await nextTurn()
    sent[1]?.answer(401, 'again')
    expect(await text(await promise)).toBe('again')
    expect(reject.mock.lastCall?.[0]).toMatchObject({ ticket: 2 })
  })

  it.each([
    ['403', { path: '/version', status: 403 }],
    ['401 from behind a proxy subresource', { path: '/api/v1/nodes/n/proxy/x', status: 401 }],
  ])('is not a %s', async (_, { path, status }) => {
    const [replace, accept] = [vi.fn(), vi.fn()]
    const { send, sent } = open({ access: { replace, accept } })
    const promise = send(path)
    sent[0]?.answer(status)
    expect((await promise).statusCode).toBe(status)
    expect(replace).not.toHaveBeenCalled()
    expect(accept).toHaveBeenCalledTimes(1)
  })

  it("is not reported for a request without a credential, or with the caller's own", async () => {
    const [replace, reject] = [vi.fn(), vi.fn()]
    const none = {
      ticket: 1,
      credential: {},
      authorization: undefined,
      resources: new ResourceCache(),
    }
    const { send, sent } = open({ access: { lease: () => none, replace, reject } })
    for (const headers of [{}, { authorization: 'Bearer own' }]) {
      const promise = send('/version', { headers })
      sent.at(-1)?.answer(401)
      expect((await promise).statusCode).toBe(401)
    }
    expect(replace).not.toHaveBeenCalled()
    expect(reject).not.toHaveBeenCalled()
  })

  it('that never ends does not delay the response to the retry', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { send, sent } = open({ access: { replace: async () => leaseOf(2) } })
      const promise = send()
      const [refused] = sent
      refused?.begin(401)
      await nextTurn()
      sent[1]?.answer(200, 'better')
      expect(await text(await promise)).toBe('better')
      expect(refused?.onAbort).not.toHaveBeenCalled()
      vi.advanceTimersByTime(2000)
      expect(refused?.onAbort).toHaveBeenCalledTimes(1)
    } finally {
      vi.useRealTimers()
    }
  })

  it('that is large is not read completely', async () => {
    const { send, sent } = open({ access: { replace: async () => leaseOf(2) } })
    const promise = send()
    const [refused] = sent
    refused?.begin(401)
    await nextTurn()
    refused?.data('more')
    expect(refused?.onAbort).toHaveBeenCalledTimes(1)
    sent[1]?.answer(200, 'better')
    expect(await text(await promise)).toBe('better')
  })

  it('during an upload is retried only if the whole body was recorded', async () => {
    const { send, sent } = open({ access: { replace: async () => leaseOf(2) } })
    const head = { method: 'POST', headers: {}, signal: undefined }
    const endless = new Readable({ read() {} })
    endless.push('part')
    const cut = send('/cut', withStreamBody(head, endless))
    sent[0]?.answer(401, 'refused')
    expect((await cut).statusCode).toBe(401)
    expect(sent).toHaveLength(1)
    const whole = send('/whole', withStreamBody(head, Readable.from(['all of it'])))
    const body = sent[1]?.body as Readable
    await once(body.resume(), 'end')
    sent[1]?.answer(401)
    await vi.waitFor(() => expect(sent).toHaveLength(3))
    expect(String(sent[2]?.body)).toBe('all of it')
    sent[2]?.answer(201)
    expect((await whole).statusCode).toBe(201)
  })
})

describe('a request without a response', () => {
  const broken = (): Error => Object.assign(new Error('reset'), { code: 'ECONNRESET' })

  it.each([
    ['GET', 2],
    ['HEAD', 2],
    ['POST', 1],
  ])('is sent again once if its method is safe: %s', async (method, times) => {
    const { send, sent } = open()
    const promise = send('/version', { method })
    for (let at = 0; at < times; at += 1) sent[at]?.fail(broken())
    await expect(promise).rejects.toThrow('reset')
    expect(sent).toHaveLength(times)
  })

  it('is sent again with any method if the server did not process it', async () => {
    const { send, sent } = open()
    const promise = send('/version', { method: 'POST' })
    for (let at = 0; at < 10; at += 1) sent[at]?.fail(new NoResponseError('unprocessed', broken()))
    sent[10]?.answer(201)
    expect((await promise).statusCode).toBe(201)
  })

  it('is sent again for every stale connection if its method is safe', async () => {
    const { send, sent } = open()
    const [get, post] = [send(), send('/version', { method: 'POST' })]
    sent[1]?.fail(new NoResponseError('stale', broken()))
    await expect(post).rejects.toThrow('reset')
    for (const at of [0, 2, 3]) sent[at]?.fail(new NoResponseError('stale', broken()))
    sent[4]?.answer(200)
    expect((await get).statusCode).toBe(200)
  })

  it('is not sent again if its body cannot be replayed', async () => {
    const { send, sent } = open()
    const promise = send('/version', { method: 'POST', canReplay: () => false })
    sent[0]?.fail(new NoResponseError('unprocessed', broken()))
    await expect(promise).rejects.toThrow('reset')
    expect(sent).toHaveLength(1)
  })

  it('ends when its signal aborts before there is a connection, and sends nothing', async () => {
    const own = new AbortController()
    let dialing: Sendable | undefined
    const exchange: Exchange = {
      open: () => ({
        isClosed: false,
        send: (call) => {
          dialing = call
        },
        close() {},
        destroy() {},
      }),
    }
    const line = lineTo(target, exchange)
    const promise = sendOver(line, '/version', { signal: own.signal }, exchange)
    own.abort(new Error('never mind'))
    await expect(promise).rejects.toThrow('never mind')
    const onAbort = vi.fn()
    dialing?.onRequestStart(new CallbackController({ onAbort, onPause() {}, onResume() {} }), null)
    expect(onAbort).toHaveBeenCalledTimes(1)
  })
})

describe('closing the line', () => {
  it('ends queued requests, requests in flight and open responses, and sends nothing more', async () => {
    const { ask, give } = later()
    const { send, sent, line } = open({ limits: { requests: 2, streams: 1 } })
    const reading = send('/reading')
    sent[0]?.begin(200)
    const body = text(await reading)
    const inFlight = send('/in-flight')
    const queued = send('/queued')
    await line.close()
    for (const ended of [body, inFlight, queued]) {
      await expect(ended).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    }
    await expect(send('/late')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    for (const { onAbort } of sent) expect(onAbort).toHaveBeenCalledTimes(1)
    await nextTurn()
    expect(sent).toHaveLength(2)
    expect(line.calls.size).toBe(0)
    expect(ask).not.toHaveBeenCalled()
    await give(undefined)
  })

  it('during a refresh ends the waiting request', async () => {
    const { ask, give } = later()
    const report = vi.fn()
    const { send, sent, line } = open({ access: { replace: ask, report } })
    const promise = send()
    sent[0]?.answer(401)
    await line.close()
    await expect(promise).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await give(leaseOf(2))
    expect(sent).toHaveLength(1)
    expect(report).not.toHaveBeenCalled()
  })
})
