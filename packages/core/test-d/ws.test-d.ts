import type https from 'node:https'
import type { Cluster } from 'kubecred'
import { type OpenedWebSocket, openWebSocket, webSocketOptions } from 'kubecred/ws'
import { expectTypeOf, it } from 'vitest'
import { WebSocket } from 'ws'

declare const cluster: Cluster

it('openWebSocket gives a WebSocket without the types of ws', () => {
  const opening = () => openWebSocket(cluster, '/x', ['v5.channel.k8s.io'])
  expectTypeOf(opening).returns.resolves.toEqualTypeOf<OpenedWebSocket>()
  expectTypeOf<WebSocket>().toExtend<OpenedWebSocket>()
})

it('and one of the class that it is given', () => {
  const opening = () => openWebSocket(cluster, new URL('wss://x'), 'a', { WebSocket })
  expectTypeOf(opening).returns.resolves.toEqualTypeOf<WebSocket>()
})

it('it takes a signal and what ws takes', () => {
  const { signal } = new AbortController()
  const options = { signal, headers: { a: 'b' }, handshakeTimeout: 1 }
  expectTypeOf(openWebSocket).toBeCallableWith(cluster, '/x', [], options)
})

it('webSocketOptions gives the agent', () => {
  expectTypeOf(webSocketOptions).returns.toEqualTypeOf<{ agent: https.Agent }>()
})
