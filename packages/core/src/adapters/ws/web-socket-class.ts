import type { ClientRequest, IncomingMessage } from 'node:http'
import { PeerMissingError } from '../../errors/index.ts'

/**
 * What an open WebSocket can do, in the words of `ws`, whose types are not needed for it.
 *
 * With the option `WebSocket`, the class's own type is given instead.
 */
export interface OpenedWebSocket {
  readonly readyState: number
  /** What the server chose of the protocols; empty if nothing. */
  readonly protocol: string
  binaryType: string
  send(data: string | Uint8Array, callback?: (error?: Error) => void): void
  ping(): void
  pause(): void
  resume(): void
  close(code?: number, reason?: string): void
  terminate(): void
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): unknown
  on(event: 'close', listener: (code: number, reason: Buffer) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'ping' | 'pong', listener: (data: Buffer) => void): unknown
  once(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): unknown
  once(event: 'close', listener: (code: number, reason: Buffer) => void): unknown
  once(event: 'error', listener: (error: Error) => void): unknown
  once(event: 'open', listener: () => void): unknown
  once(
    event: 'unexpected-response',
    listener: (request: ClientRequest, response: IncomingMessage) => void,
  ): unknown
}

/** The class `WebSocket` of `ws`, or one made from it. */
export type WebSocketClass<Socket> = new (
  address: string,
  protocols: string[],
  // Every version of ws has a type of its own for them; this one fits all.
  options: never,
) => Socket

/**
 * Loads the class of the installed package.
 *
 * @throws {PeerMissingError}
 */
export async function loadWebSocket(
  load: () => Promise<{ WebSocket: WebSocketClass<OpenedWebSocket> }> = () => import('ws'),
): Promise<WebSocketClass<OpenedWebSocket>> {
  try {
    return (await load()).WebSocket
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new PeerMissingError('kubecred/ws', 'ws', { cause })
  }
}
