import { once } from 'node:events'
import { expect, it } from 'vitest'
import { LiveState } from '../../src/page/live-state.ts'
import { startPage } from '../../src/page/start-page.ts'
import { PageClient } from './page-client.ts'

it('clients that send nothing, stop midway or send headers slowly are disconnected', async () => {
  const state = new LiveState({ title: 'test', now: Date.now })
  const page = await startPage({ state, port: 0 })
  const client = new PageClient(page.origin)
  const drips = client.open('GET / HTTP/1.1\r\n')
  const drip = setInterval(() => drips.write('X: y\r\n'), 300)
  try {
    const slow = [client.open(), client.open('GET / HT'), drips]
    await Promise.all(slow.map((socket) => once(socket.resume(), 'close')))
    expect((await client.ask('/')).status).toBe(200)
  } finally {
    clearInterval(drip)
    await page.close()
  }
})
