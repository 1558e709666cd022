import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { loadWebSocket } from '../../../src/adapters/ws/open-web-socket.ts'

it('the installed ws is used', async () => {
  expect(await loadWebSocket()).toBe(WebSocket)
})

it('a missing ws is named in the error', async () => {
  const load = async () => import('not-installed' as string) as never
  await expect(loadWebSocket(load)).rejects.toMatchObject({
    code: 'ERR_PEER_MISSING',
    peer: 'ws',
    message: 'kubecred/ws needs the package ws, which is not installed',
    hint: 'Run "npm install ws".',
  })
})

it('the error of a broken ws is passed on', async () => {
  const load = () => Promise.reject(new SyntaxError('broken'))
  await expect(loadWebSocket(load)).rejects.toThrow(SyntaxError)
})
