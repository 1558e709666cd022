import type { Duplex } from 'node:stream'
import { openWebSocket } from 'kubecred/ws'
import { describe, expect, it } from 'vitest'
import { startPlainServer } from '../https/plain-server.ts'

describe('openWebSocket', () => {
  it.each([
    ['never ends', (_: Duplex) => {}],
    ['breaks off', (socket: Duplex) => void socket.destroy()],
  ])('reports a refusal whose body %s', async (_, end) => {
    await using plain = await startPlainServer((_, response) => response.end())
    plain.server.on('upgrade', (_, socket) => {
      const head = ['HTTP/1.1 403 Forbidden', 'Content-Length: 1000', '', 'not you'].join('\r\n')
      socket.write(head, () => end(socket))
    })
    await expect(openWebSocket(plain.cluster, '/any')).rejects.toMatchObject({
      code: 'ERR_UPGRADE_REFUSED',
      status: 403,
    })
  })
})
