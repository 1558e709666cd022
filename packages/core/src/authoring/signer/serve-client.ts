import type { Socket } from 'node:net'
import { decodeSignRequest } from './decode-sign-request.ts'
import { LineSplitter } from './line-splitter.ts'
import { refusalLine } from './refusal-line.ts'
import type { AskedOfSigner } from './sign-request.ts'

/** Requests of one client that wait; clients send one at a time. */
const MOST_WAITING = 64

export interface Serving {
  /** Takes its turn after the requests of other clients. */
  readonly answer: (
    asked: AskedOfSigner,
    signal: AbortSignal,
    write: (text: string) => Promise<void>,
  ) => Promise<string>
  /** Aborted when the signer closes. */
  readonly closing: AbortSignal
}

/** Answers one client, in the order it asked. What it waits for is given up when it leaves. */
export function serveClient(socket: Socket, { answer, closing }: Serving): void {
  const leaving = new AbortController()
  const signal = AbortSignal.any([leaving.signal, closing])
  const splitter = new LineSplitter()
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const write = (text: string): Promise<void> =>
    new Promise((resolve) => {
      socket.write(text, () => resolve())
    })
  const serve = async (text: string): Promise<void> => {
    let asked: AskedOfSigner | undefined
    let line: string
    try {
      signal.throwIfAborted()
      asked = decodeSignRequest(text)
      line = await answer(asked, signal, write)
    } catch (error) {
      if (signal.aborted) return
      line = refusalLine(error, asked?.configuration)
    }
    await write(line)
    waiting -= 1
  }
  const breakOff = (error: Error): void => void socket.end(refusalLine(error))
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const text of splitter.push(chunk)) {
        waiting += 1
        if (waiting > MOST_WAITING) return breakOff(new Error('too many requests wait already'))
        last = last.then(() => serve(text))
      }
    } catch (error) {
      breakOff(error as Error)
    }
  })
  const leave = (): void => leaving.abort(new Error('the client left'))
  socket.on('error', leave).on('end', leave).on('close', leave)
}
