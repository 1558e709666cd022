import { once } from 'node:events'
import net from 'node:net'
import type { Duplex } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { withResolvers } from '../adapters/https/with-resolvers.ts'
import { head, type Scene, startScene } from './scene.ts'

let scene: Scene
afterEach(() => scene[Symbol.asyncDispose]())

/** Upgrades a connection. Returns both ends, and what the client has received. */
async function join(
  first = '',
): Promise<{ client: net.Socket; server: Duplex; received: () => string }> {
  scene = await startScene(() => {})
  const joined = withResolvers<Duplex>()
  scene.plain.server.on('upgrade', (_, socket) => {
    socket.on('error', () => {})
    socket.allowHalfOpen = true
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n',
    )
    joined.resolve(socket)
  })
  const client = net.connect({ port: scene.port, host: '127.0.0.1', allowHalfOpen: true })
  client.on('error', () => {})
  let text = ''
  client.on('data', (chunk) => {
    text += chunk
  })
  const lines = ['Connection: Upgrade', 'Upgrade: SPDY/3.1']
  client.write(head(scene.port, 'POST /apis/x/v1/y HTTP/1.1', ...lines) + first)
  const server = await joined.promise
  await expect.poll(() => text).toContain('\r\n\r\n')
  return { client, server, received: () => text.slice(text.indexOf('\r\n\r\n') + 4) }
}

describe('an upgraded connection', () => {
  it('still delivers to a client that has finished sending', async () => {
    const { client, server, received } = await join()
    let heard = ''
    server.on('data', (chunk) => {
      heard += chunk
    })
    const ended = once(server, 'end')
    client.end('last words')
    await ended
    expect(heard).toBe('last words')
    server.end('the answer')
    await once(client, 'end')
    expect(received()).toBe('the answer')
    await expect.poll(() => scene.proxy.open).toBe(0)
  })

  it('still delivers to a server that has finished sending', async () => {
    const { client, server, received } = await join()
    server.end('that was it')
    await once(client, 'end')
    expect(received()).toBe('that was it')
    let heard = ''
    server.on('data', (chunk) => {
      heard += chunk
    })
    const ended = once(server, 'end')
    client.end('thank you')
    await ended
    expect(heard).toBe('thank you')
    await expect.poll(() => scene.proxy.open).toBe(0)
  })

  it('delivers what the client sent before the upgrade was complete', async () => {
    const { client, server } = await join('early bytes')
    const [chunk] = await once(server, 'data')
    expect(String(chunk)).toBe('early bytes')
    client.destroy()
    await once(server.resume(), 'end')
  })

  it.each(['client', 'server'] as const)('ends with the %s', async (who) => {
    const ends = await join()
    const other = who === 'client' ? ends.server : ends.client
    // As usual, the other side ends its own direction too.
    other.resume().once('end', () => other.end())
    ends[who].destroy()
    await new Promise((resolve) => other.once('close', resolve))
    await expect.poll(() => scene.proxy.open).toBe(0)
  })
})
