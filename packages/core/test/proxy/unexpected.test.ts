import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import type { Cluster, CredentialEvent } from 'kubecred'
import type { UnexpectedError } from 'kubecred/errors'
import { DEFAULT_RULES, type ProxyOptions } from 'kubecred/proxy'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type PlainServer, startPlainServer, TOKEN } from '../adapters/https/plain-server.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { UPGRADE } from './expect-rejected.ts'
import { ask, BEARER, head, type RunningProxy, SECRET, send, startProxy } from './scene.ts'

interface Answer {
  readonly headers: Readonly<Record<string, string>>
  readonly body: { destroy(error: Error): void }
}

/** The line that the proxy sends requests with. */
interface Sender {
  send(...args: unknown[]): Promise<Answer>
}

let plain: PlainServer
let running: RunningProxy
let events: Extract<CredentialEvent, { type: 'unexpected-error' }>[]
let errors: UnexpectedError[]

beforeEach(async () => {
  events = []
  errors = []
  const observer = (event: CredentialEvent): void => {
    if (event.type === 'unexpected-error') events.push(event)
  }
  plain = await startPlainServer((_, response) => response.end('fine'), { observer })
  plain.server.on('upgrade', (_, socket) => {
    socket.on('error', () => {})
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    )
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await running[Symbol.asyncDispose]()
  await plain[Symbol.asyncDispose]()
})

async function start(options: Partial<ProxyOptions> = {}): Promise<void> {
  running = await startProxy(plain.cluster, { onError: (error) => errors.push(error), ...options })
}

const senderOf = (cluster: Cluster): Sender => Reflect.get(cluster, Symbol.for('kubecred/line/1'))

/** Makes every request fail. */
function failWith(error: Error): void {
  vi.spyOn(senderOf(plain.cluster), 'send').mockRejectedValue(error)
}

/** Changes every response of the server before the proxy receives it. */
function change(make: (answer: Answer) => Answer): void {
  const sender = senderOf(plain.cluster)
  const original = sender.send.bind(sender)
  vi.spyOn(sender, 'send').mockImplementation(async (...args) => make(await original(...args)))
}

const quoting = (): TypeError =>
  new TypeError(`x is not a function, near ${TOKEN}, ${SECRET} and password=hunter2hunter2`)

/** Returns the id in a response of the proxy. */
function idIn(text: string): string {
  const { kind, code, reason, message } = JSON.parse(text)
  expect({ kind, code, reason }).toEqual({ kind: 'Status', code: 500, reason: 'InternalError' })
  const [, id] =
    /^kubecred proxy: internal error: .+\. Look for id ([0-9a-f]{8}) in /.exec(message) ?? []
  return id ?? message
}

describe('an internal error', () => {
  it.each([
    ['a request', BEARER],
    ['an upgrade', { ...BEARER, ...UPGRADE }],
  ])(
    'of %s is answered with its message and an id, and reported with its stack, all without secrets',
    async (_, headers) => {
      // The credential is held, and therefore known.
      await plain.cluster.fetch('/version')
      await start()
      failWith(quoting())
      const { status, text } = await ask(running.port, { headers })
      expect(status).toBe(500)
      const id = idIn(text)
      const message =
        'TypeError: x is not a function, near [secret], [secret] and password=[secret]'
      expect(JSON.parse(text).message).toContain(`internal error: ${message}. Look`)
      expect(text).not.toContain('unexpected.test')
      expect(errors).toMatchObject([
        {
          id,
          message,
          stack: expect.stringMatching(
            /^TypeError: x is not a function.*\n {4}at .*unexpected\.test/s,
          ),
        },
      ])
      expect(events).toMatchObject([{ type: 'unexpected-error', ...errors[0] }])
      expectNoLeak([text, errors, events], [TOKEN, SECRET, 'hunter2hunter2'])
      expect(running.notes).toMatchObject([{ status: 500, rejectedFor: 'unexpected' }])
    },
  )

  it('has the same id every time, and another one for another error', async () => {
    await start()
    const error = quoting()
    failWith(error)
    const [first, second] = [await ask(running.port), await ask(running.port)]
    failWith(new RangeError('other'))
    const third = await ask(running.port)
    expect(idIn(second.text)).toBe(idIn(first.text))
    expect(idIn(third.text)).not.toBe(idIn(first.text))
    expect(errors).toHaveLength(3)
  })

  it('shows its causes', async () => {
    await start()
    failWith(new Error('outer', { cause: new Error(`inner ${SECRET}`) }))
    await ask(running.port)
    expect(errors[0]?.stack).toMatch(/^Error: outer\n.*\ncaused by: Error: inner \[secret\]\n/s)
  })

  it('of a rule is answered, and the proxy keeps working', async () => {
    class Broken extends RegExp {
      override test(path: string): boolean {
        if (path === '/broken') throw new TypeError('broken rule')
        return super.test(path)
      }
    }
    await start({ rules: { ...DEFAULT_RULES, acceptPaths: [new Broken('^')] } })
    for (const headers of [BEARER, { ...BEARER, ...UPGRADE }]) {
      const { text } = await ask(running.port, { path: '/broken', headers })
      expect(idIn(text)).toBe(errors.at(-1)?.id)
    }
    expect(await ask(running.port)).toMatchObject({ status: 200, text: 'fine' })
  })

  it('is answered if the response of the server cannot be written', async () => {
    await start()
    change((answer) => Object.assign(answer, { headers: { 'not a name': 'x' } }))
    for (const method of ['GET', 'HEAD']) {
      const { status } = await ask(running.port, { method })
      expect(status).toBe(500)
    }
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringContaining('not a name'),
      expect.stringContaining('not a name'),
    ])
  })

  it('of onRequest is reported, and the request continues', async () => {
    await start({
      onRequest: () => {
        throw new TypeError('broken listener')
      },
    })
    expect(await ask(running.port)).toMatchObject({ status: 200, text: 'fine' })
    expect(errors).toMatchObject([{ message: 'TypeError: broken listener' }])
    expect(events).toHaveLength(1)
  })

  it('is answered even if onError throws', async () => {
    await start({
      onError: () => {
        throw new Error('broken')
      },
    })
    failWith(quoting())
    const { text } = await ask(running.port)
    expect(idIn(text)).toBe(events[0]?.id)
  })

  it('is emitted once as a process warning by default', async () => {
    await start({ onError: undefined })
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    failWith(quoting())
    const { text } = await ask(running.port)
    await ask(running.port)
    const id = idIn(text)
    const detail = expect.stringContaining('TypeError: x is not a function')
    const message = expect.stringMatching(/^internal error: TypeError: x is not a function, near /)
    expect(warn.mock.calls).toEqual([[message, { type: 'KubecredProxyError', code: id, detail }]])
  })
})

describe('after the response has begun', () => {
  it('an internal error cuts it off and is reported', async () => {
    plain.server.removeAllListeners('request')
    plain.server.on('request', (_, response) => void response.write('first'))
    await start()
    let answer: Answer | undefined
    change((each) => {
      answer = each
      return each
    })
    const response = await send(running.port)
    await once(response, 'data')
    const cut = once(response, 'error')
    answer?.body.destroy(new TypeError('broken stream'))
    await cut
    expect(errors).toMatchObject([{ message: 'TypeError: broken stream' }])
    expect(events).toHaveLength(1)
  })

  it('an internal error on an upgraded connection ends it and is reported', async () => {
    await start()
    let answer: Answer | undefined
    change((each) => {
      answer = each
      return each
    })
    const request = http.get({
      ...{ host: '127.0.0.1', port: running.port, path: '/api' },
      headers: { ...BEARER, ...UPGRADE },
    })
    const [, socket] = (await once(request, 'upgrade')) as [unknown, net.Socket]
    let text = ''
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        text += chunk
      })
    answer?.body.destroy(new TypeError('broken stream'))
    await new Promise((resolve) => socket.once('close', resolve))
    expect(text).toBe('')
    expect(errors).toMatchObject([{ message: 'TypeError: broken stream' }])
  })

  it('a server or a client that disconnects is not an internal error', async () => {
    plain.server.removeAllListeners('request')
    const requests: http.IncomingMessage[] = []
    plain.server.on('request', (request, response) => {
      requests.push(request.on('error', () => {}))
      response.write('first')
    })
    await start()
    const response = await send(running.port)
    await once(response, 'data')
    const cut = once(response, 'error')
    requests[0]?.socket.destroy()
    await cut
    const client = net.connect(running.port, '127.0.0.1')
    client.write(head(running.port, 'GET /api HTTP/1.1'))
    await once(client, 'data')
    const left = new Promise((resolve) => requests[1]?.once('close', resolve))
    client.destroy()
    await left
    expect(errors).toEqual([])
    expect(events).toEqual([])
  })
})

it('an internal error is reported even if the client has disconnected', async () => {
  await start()
  let fail: (error: Error) => void = () => {}
  const asked = new Promise<void>((resolve) => {
    vi.spyOn(senderOf(plain.cluster), 'send').mockImplementation(() => {
      resolve()
      return new Promise((_, reject) => {
        fail = reject
      })
    })
  })
  const client = net.connect(running.port, '127.0.0.1')
  client.write(head(running.port, 'GET /api HTTP/1.1'))
  await asked
  client.destroy()
  await expect.poll(() => running.proxy.open).toBe(0)
  fail(new TypeError('too late'))
  await expect.poll(() => errors).toMatchObject([{ message: 'TypeError: too late' }])
  expect(running.notes).toMatchObject([{ status: 0 }])
})
