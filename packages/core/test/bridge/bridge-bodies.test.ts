import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import https from 'node:https'
import { createAgent } from 'kubecred/https'
import { afterEach, describe, expect, it } from 'vitest'
import { type PlainServer, startPlainServer } from '../adapters/https/plain-server.ts'
import { readText, request } from '../adapters/https/request.ts'

let plain: PlainServer
afterEach(() => plain[Symbol.asyncDispose]())

async function start(listener: RequestListener) {
  plain = await startPlainServer(listener)
  return createAgent(plain.cluster)
}

const MEGABYTE = 1024 * 1024
const CHUNK = Buffer.alloc(MEGABYTE, 'x')
const LARGE = 200

/** Waits until a number no longer changes. */
async function settled(read: () => number): Promise<number> {
  let last = -1
  await expect
    .poll(
      () => {
        const before = last
        last = read()
        return last === before && last > 0
      },
      { interval: 200, timeout: 15_000 },
    )
    .toBe(true)
  return last
}

const usedMegabytes = (): number => {
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return (arrayBuffers + heapUsed) / MEGABYTE
}

describe('a large body', () => {
  it('from the server arrives as fast as it is read: a slow reader pauses the server', async () => {
    let sent = 0
    const agent = await start((_, response) => {
      const send = (): void => {
        while (sent < LARGE) {
          sent += 1
          if (!response.write(CHUNK)) {
            response.once('drain', send)
            return
          }
        }
        response.end()
      }
      send()
    })
    const response = await request(plain.url, agent, { path: '/' })
    const before = usedMegabytes()
    expect(await settled(() => sent)).toBeLessThan(LARGE / 2)
    let most = 0
    let received = 0
    for await (const chunk of response) {
      received += (chunk as Buffer).length
      most = Math.max(most, usedMegabytes() - before)
    }
    expect(received).toBe(LARGE * MEGABYTE)
    expect(most).toBeLessThan(LARGE / 2)
  })

  it.each<[string, Record<string, string>]>([
    ['with its length', { 'content-length': String(LARGE * MEGABYTE) }],
    ['in chunks', {}],
  ])('from the client is sent as fast as the server reads, %s', async (_, headers) => {
    let incoming: IncomingMessage | undefined
    const agent = await start((received) => {
      incoming = received
    })
    let sent = 0
    const upload = https.request(plain.url, { agent, method: 'PUT', headers })
    const answered = once(upload, 'response') as Promise<[IncomingMessage]>
    const write = (): void => {
      while (sent < LARGE) {
        sent += 1
        if (!upload.write(CHUNK)) {
          upload.once('drain', write)
          return
        }
      }
      upload.end()
    }
    write()
    expect(await settled(() => sent)).toBeLessThan(LARGE / 2)
    if (incoming === undefined) throw new Error('nothing arrived')
    expect(incoming.headers['content-length']).toBe(headers['content-length'])
    let received = 0
    for await (const chunk of incoming) received += (chunk as Buffer).length
    expect(received).toBe(LARGE * MEGABYTE)
    plain.server.closeAllConnections()
    await answered.catch(() => {})
  })

  it('that the server does not read does not prevent its response', async () => {
    const agent = await start((_, response) => {
      response.writeHead(413, { connection: 'close' }).end('too much')
    })
    const upload = https.request(plain.url, { agent, method: 'PUT' })
    upload.on('error', () => {})
    const answered = once(upload, 'response') as Promise<[IncomingMessage]>
    upload.write(Buffer.alloc(300 * 1024))
    const [response] = await answered
    expect(response.statusCode).toBe(413)
    expect(await readText(response)).toBe('too much')
    upload.destroy()
  })
})
