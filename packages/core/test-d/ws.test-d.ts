import type https from 'node:https'
import type { Cluster } from 'kubecred'
import { type OpenedWebSocket, openWebSocket, webSocketOptions } from 'kubecred/ws'
import { expectTypeOf, it } from 'vitest'
import { WebSocket } from 'ws'

declare const cluster: Cluster

it('openWebSocket returns a WebSocket without the types of ws', () => {
  const opening = () => openWebSocket(cluster, '/x', ['v5.channel.k8s.io'])
  expectTypeOf(opening).returns.resolves.toEqualTypeOf<OpenedWebSocket>()
  expectTypeOf<WebSocket>().toExtend<OpenedWebSocket>()
})

it('openWebSocket returns an instance of the given class', () => {
  const opening = () => openWebSocket(cluster, new URL('wss://x'), 'a', { WebSocket })
  expectTypeOf(opening).returns.resolves.toEqualTypeOf<WebSocket>()
})

it('openWebSocket accepts a signal and the options of ws', () => {
  const { signal } = new AbortController()
  const options = { signal, headers: { a: 'b' }, handshakeTimeout: 1 }
  expectTypeOf(openWebSocket).toBeCallableWith(cluster, '/x', [], options)
})

it('webSocketOptions returns the agent', () => {
  expectTypeOf(webSocketOptions).returns.toEqualTypeOf<{ agent: https.Agent }>()
})
