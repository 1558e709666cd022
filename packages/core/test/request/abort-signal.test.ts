import { createServer, type Socket } from 'node:net'
import { connect } from 'kubecred'
import { expect, it } from 'vitest'

it.each(['pool', 'https', 'http2'] as const)(
  'a request that is aborted while its connection is being made ends at once: %s',
  async (transport) => {
    // Accepts connections and sends nothing, so the handshake never ends.
    const sockets: Socket[] = []
    const silent = createServer((socket) => sockets.push(socket.on('error', () => {})))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    const cluster = await connect({
      server: `https://127.0.0.1:${port}`,
      token: 'x',
      transport,
      env: {},
    })
    try {
      const own = new AbortController()
      const request = cluster.fetch('/version', { signal: own.signal })
      request.catch(() => {})
      await expect.poll(() => sockets.length).toBe(1)
      const reason = new Error('never mind')
      own.abort(reason)
      // The connect timeout is 30 s, longer than the timeout of this test.
      await expect(request).rejects.toBe(reason)
    } finally {
      await cluster.close()
      for (const socket of sockets) socket.destroy()
      silent.close()
    }
  },
  5000,
)
