import { once } from 'node:events'
import type { Agent, IncomingMessage, RequestListener } from 'node:http'
import https from 'node:https'
import { createAgent } from 'kubecred/https'
import { afterEach, describe, expect, it } from 'vitest'
import { Bridge, bridgeAgent } from '../../src/bridge/bridge.ts'
import type { HeaderValues } from '../../src/exchange/exchange.ts'
import type { Call, Caller } from '../../src/request/call.ts'
import type { ResponseReader } from '../../src/request/incoming-response.ts'
import { LINE, type Line } from '../../src/request/line.ts'
import { type PlainServer, startPlainServer } from '../adapters/https/plain-server.ts'
import { readText, request } from '../adapters/https/request.ts'

let plain: PlainServer
afterEach(() => plain[Symbol.asyncDispose]())

async function start(listener: RequestListener): Promise<https.Agent> {
  plain = await startPlainServer(listener)
  return createAgent(plain.cluster)
}

/** Answers with what arrived. */
const echo: RequestListener = (received, response) => {
  void readText(received).then((body) => response.end(`${received.method} ${body}`))
}

const idle = (agent: Agent): number => Object.values(agent.freeSockets).flat().length

describe('a connection of the agent', () => {
  it('is reused for plain requests, with and without a body', async () => {
    const agent = await start(echo)
    const sockets = new Set<unknown>()
    for (const body of ['', 'one', 'x'.repeat(200_000)]) {
      const response = await request(plain.url, agent, { path: '/', method: 'PUT', body })
      expect(await readText(response)).toBe(`PUT ${body}`)
      sockets.add(response.socket)
      await expect.poll(() => idle(agent)).toBe(1)
    }
    expect(sockets.size).toBe(1)
  })

  it('is not reused after a request that needed a server', async () => {
    const agent = await start(echo)
    const headers = { 'transfer-encoding': 'chunked' }
    const sent = { path: '/', method: 'PUT', headers, body: 'two' }
    const response = await request(plain.url, agent, sent)
    const { socket } = response
    expect(await readText(response)).toBe('PUT two')
    if (!socket.destroyed) await once(socket, 'close')
    expect(idle(agent)).toBe(0)
  })
})

describe('the body of a plain request', () => {
  it('may arrive in parts, and be changed once it is written', async () => {
    const agent = await start(echo)
    const headers = { 'content-length': '9' }
    const sent = https.request(plain.url, { agent, method: 'POST', headers })
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>
    const part = Buffer.alloc(3)
    for (const letter of 'abc') {
      part.fill(letter)
      await new Promise<unknown>((resolve) => sent.write(part, resolve))
    }
    part.fill('z')
    sent.end()
    const [response] = await answered
    expect(await readText(response)).toBe('POST aaabbbccc')
  })

  it.each([
    ['without a length', {}],
    ['that is longer than its length', { 'content-length': '1' }],
  ])('%s ends the request, also when it is written late', async (_, headers) => {
    const agent = await start(() => {})
    const sent = https.request(plain.url, { agent, method: 'DELETE', headers })
    const failed = once(sent, 'error')
    sent.flushHeaders()
    await once(sent, 'socket')
    sent.write('{}')
    expect(await failed).toMatchObject([
      { message: expect.stringContaining('a body needs the header Content-Length') },
    ])
  })
})

/** Makes an agent on which every response has these properties and this body. */
function agentFor(answer: { statusText?: string; headers?: HeaderValues; body?: string }) {
  const real = plain.cluster[LINE]
  const line = new Proxy(real, {
    get(target, name) {
      if (name !== 'call') return Reflect.get(target, name)
      return (...[to, outgoing, caller]: Parameters<Line['call']>) => {
        const changing: Caller = {
          failed: (error) => caller.failed(error),
          answered: (call: Call) => caller.answered(Object.assign(call, answer)),
        }
        target.call(to, outgoing, changing)
      }
    },
  })
  return bridgeAgent(new Bridge(() => line), 'https:', { keepAlive: true })
}

describe('a response that cannot be written as it is', () => {
  it.each([
    ['a line break in a value', { headers: { x: 'a\r\nb: c' } }],
    ['a line break in a name', { headers: { 'x\r\ny': 'a' } }],
    ['a line break in a list', { headers: { x: ['a', 'b\n'] } }],
    ['a line break in the status line', { statusText: 'a\r\nb' }],
    ['a length that is too small', { headers: { 'content-length': '2' } }],
    ['a length that is too large', { headers: { 'content-length': '20' } }],
    ['a length that is not a number', { headers: { 'content-length': 'x' } }],
    ['two lengths', { headers: { 'content-length': ['4', '4'] } }],
  ])('ends the request: %s', async (_, answer) => {
    await start((_, response) => response.end('body'))
    const agent = agentFor(answer)
    const sent = request(plain.url, agent, { path: '/' })
    await expect(sent.then(readText)).rejects.toThrow()
    expect(idle(agent)).toBe(0)
  })
})

describe('a response with a length', () => {
  it('is complete with its last byte, although its end arrives later, as in HTTP/2', async () => {
    await start(() => {})
    const { agent, callers } = heldAgent()
    for (const text of ['one', 'two']) {
      const sent = request(plain.url, agent, { path: '/' })
      await expect.poll(() => callers.length).toBe(1)
      const { reader, body } = answerPart(callers.pop(), { 'content-length': '3' }, text)
      expect(await readText(await sent)).toBe(text)
      await expect.poll(() => idle(agent)).toBe(1)
      expect(body.isDiscarded).toBe(true)
      reader().end({})
    }
  })
})

/** Makes an agent whose requests are not sent: a test answers them. */
function heldAgent() {
  const callers: Caller[] = []
  const line = new Proxy(plain.cluster[LINE], {
    get(target, name) {
      if (name !== 'call') return Reflect.get(target, name)
      return (...[, , caller]: Parameters<Line['call']>) => void callers.push(caller)
    },
  })
  return { callers, agent: bridgeAgent(new Bridge(() => line), 'https:', { keepAlive: true }) }
}

/** Answers a request with a body whose end is to come. */
function answerPart(caller: Caller | undefined, headers: HeaderValues, text: string) {
  let reading: ResponseReader | undefined
  const body = { isDiscarded: false }
  const call = {
    statusCode: 200,
    statusText: 'OK',
    headers,
    read(reader: ResponseReader) {
      reading = reader
      reader.data(Buffer.from(text))
    },
    discard() {
      body.isDiscarded = true
    },
  }
  caller?.answered(call as unknown as Call)
  return { body, reader: () => reading as ResponseReader }
}

describe('an exception of a listener', () => {
  it('does not reach the connection to the server', async () => {
    const agent = await start((_, response) => response.end('body'))
    const thrown = new Promise((resolve) => process.once('uncaughtException', resolve))
    const others = process.listeners('uncaughtException').slice(0, -1)
    for (const other of others) process.off('uncaughtException', other)
    https.get(plain.url, { agent }, () => {
      throw new Error('mine')
    })
    expect(await thrown).toMatchObject({ message: 'mine' })
    for (const other of others) process.on('uncaughtException', other)
    const response = await plain.cluster.fetch('/')
    expect(await response.text()).toBe('body')
  })
})
