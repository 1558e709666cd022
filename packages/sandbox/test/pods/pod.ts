import { once } from 'node:events'
import { type ClientOptions, WebSocket } from 'ws'
import type { Sandbox } from '../../src/index.ts'
import { call } from '../client.ts'

/** The path of the pod `web`. */
export const POD = '/api/v1/namespaces/default/pods/web'

/** Creates the pod `web` in the namespace `default`. */
export async function createPod(sandbox: Sandbox, token: string): Promise<void> {
  const json = { metadata: { name: 'web' } }
  await call(sandbox, '/api/v1/namespaces/default/pods', { method: 'POST', token, json })
}

/** A WebSocket to a pod, and the messages received over it. */
export interface Attached {
  readonly socket: WebSocket
  /** Every message so far, including its channel byte. */
  readonly messages: readonly Buffer[]
  /** Sends on a channel. */
  send(channel: number, data: string | Buffer): void
  /** Resolves when exactly these bytes have arrived on a channel. */
  until(channel: number, text: string): Promise<void>
  /** Resolves to the close code and the received bytes by channel. */
  ended(): Promise<{ code: number; bytes: (channel: number) => Buffer }>
}

/** Connects to a pod; rejects if the server does not switch protocols. */
export async function attach(
  sandbox: Sandbox,
  path: string,
  token: string,
  protocols: string[] = ['v5.channel.k8s.io'],
  options: ClientOptions = {},
): Promise<Attached> {
  const url = sandbox.url.replace(/^http/, 'ws') + path
  const headers = { authorization: `Bearer ${token}`, ...options.headers }
  const socket = new WebSocket(url, protocols, { ca: sandbox.caPem, ...options, headers })
  const messages: Buffer[] = []
  socket.on('message', (message: Buffer) => messages.push(message))
  const bytes = (channel: number): Buffer =>
    Buffer.concat(messages.filter(([first]) => first === channel).map((one) => one.subarray(1)))
  const closed = once(socket, 'close')
  await once(socket, 'open')
  return {
    socket,
    messages,
    send: (channel, data) => socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(data)])),
    until: async (channel, text) => {
      while (bytes(channel).toString() !== text) await once(socket, 'message')
    },
    ended: async () => ({ code: (await closed)[0], bytes }),
  }
}
