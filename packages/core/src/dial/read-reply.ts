import type { Socket } from 'node:net'
import { ProxyFailedError } from '../errors/index.ts'
import type { ProxyServer } from './proxy-server.ts'

/** A reply found at the beginning of what was read, and how many bytes it took. */
export interface Taken<T> {
  readonly value: T
  readonly length: number
}

/**
 * Reads from a proxy until its reply is complete. What came behind it stays in the socket.
 *
 * @param take Gives undefined as long as more is needed, and throws when no more would help.
 */
export function readReply<T>(
  socket: Socket,
  proxy: ProxyServer,
  take: (bytes: Buffer) => Taken<T> | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0)
    const leave = (): void => {
      socket.off('readable', read).off('error', fail).off('end', end).off('close', end)
    }
    const fail = (error: unknown): void => {
      leave()
      reject(error)
    }
    const end = (): void => {
      fail(new ProxyFailedError(proxy.label, 'closed the connection before it had answered'))
    }
    const read = (): void => {
      const chunk = socket.read() as Buffer | null
      if (chunk === null) return
      bytes = Buffer.concat([bytes, chunk])
      try {
        const taken = take(bytes)
        if (taken === undefined) return
        leave()
        if (taken.length < bytes.length) socket.unshift(bytes.subarray(taken.length))
        resolve(taken.value)
      } catch (error) {
        fail(error)
      }
    }
    socket.on('readable', read).on('error', fail).on('end', end).on('close', end)
  })
}
