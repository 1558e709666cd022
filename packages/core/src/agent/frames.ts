import type { Socket } from 'node:net'
import { MOST_FRAME_BYTES } from './wire.ts'

const LINE_BREAK = 10

/** Hears the lines of one connection. */
export interface FrameListener {
  onFrame(text: string): void
  /** A line was longer than any can be; nothing more is read. */
  onTooLong(): void
}

/** Takes what arrives apart into lines, and never holds more than one of them. */
export function readFrames(
  socket: Socket,
  listener: FrameListener,
  mostBytes = MOST_FRAME_BYTES,
): void {
  let parts: Buffer[] = []
  let size = 0
  const onData = (chunk: Buffer): void => {
    let rest = chunk
    for (;;) {
      const end = rest.indexOf(LINE_BREAK)
      const part = end === -1 ? rest : rest.subarray(0, end)
      size += part.length
      if (size > mostBytes) {
        socket.off('data', onData)
        parts = []
        listener.onTooLong()
        return
      }
      parts.push(part)
      if (end === -1) return
      const text = Buffer.concat(parts).toString('utf8')
      parts = []
      size = 0
      rest = rest.subarray(end + 1)
      listener.onFrame(text)
      if (socket.destroyed) return
    }
  }
  socket.on('data', onData)
}

/** Writes one line, unless the other side has left. */
export function writeFrame(socket: Socket, frame: object): void {
  if (!socket.destroyed && socket.writable) socket.write(`${JSON.stringify(frame)}\n`)
}
