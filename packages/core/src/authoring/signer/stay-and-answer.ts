import { createReadStream } from 'node:fs'
import { Socket } from 'node:net'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { decodeSignRequest } from './decode-sign-request.ts'
import { LineSplitter } from './line-splitter.ts'
import { refusalLine } from './refusal-line.ts'
import type { AskedOfSigner } from './sign-request.ts'

export interface Staying {
  readonly answer: (asked: AskedOfSigner) => Promise<string>
  readonly write: (text: string) => Promise<void>
  /** Where further requests come from. */
  readonly descriptor: number
  readonly idleMs: number
  /** Ends the waiting for the next request. */
  readonly signal: AbortSignal
}

/** How often we look whether the client is still there. Its end of the descriptor may be held by another child. */
const PARENT_CHECK_MS = 1000

/** Answers the first request and then those from the descriptor, in order, until nobody has any more. */
export async function stayAndAnswer(first: AskedOfSigner, staying: Staying): Promise<void> {
  const watch = watchParent()
  // Node's own answer to this signal is a debugger, in a process that may be logged in to a device.
  process.on('SIGUSR1', () => {})
  try {
    // Opened before the first answer: a client that is told of it can count on it.
    const lines = readLines(openDescriptor(staying.descriptor), staying)
    await answerOne(() => first, staying)
    for await (const text of lines) await answerOne(() => decodeSignRequest(text), staying)
  } finally {
    clearInterval(watch)
  }
}

/** A refusal is an answer too: the next request may succeed. */
async function answerOne(
  read: () => AskedOfSigner,
  { answer, write, signal }: Staying,
): Promise<void> {
  let asked: AskedOfSigner | undefined
  let text: string
  try {
    asked = read()
    text = await answer(asked)
  } catch (error) {
    text = refusalLine(error, asked?.configuration)
  }
  // After a signal there is no answer, whatever the function made of it.
  if (!signal.aborted) await write(text)
}

/** Nobody reads answers of a signer whose client has died; what it does then is clean up, as after a hang-up. */
function watchParent(): NodeJS.Timeout {
  const parent = process.ppid
  const look = (): void => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGHUP')
  }
  return setInterval(look, PARENT_CHECK_MS).unref()
}

/** Lines of the descriptor; ends with it, with the signal, or when none came for too long. */
async function* readLines(stream: Readable, { idleMs, signal }: Staying): AsyncGenerator<string> {
  const end = (): void => void stream.destroy()
  signal.addEventListener('abort', end, { once: true })
  const splitter = new LineSplitter()
  let idle: NodeJS.Timeout | undefined
  const waitAgain = (): void => {
    clearTimeout(idle)
    if (idleMs < MOST_TIMER_MS) idle = setTimeout(end, idleMs)
  }
  try {
    waitAgain()
    for await (const chunk of stream) {
      clearTimeout(idle)
      yield* splitter.push(chunk as Buffer)
      waitAgain()
    }
    const rest = splitter.rest()
    if (rest.trim() !== '') yield rest
  } catch (error) {
    // Closed under the reader by us or by the client, or never open: then the one answer was all.
    if (error instanceof RangeError) throw error
  } finally {
    clearTimeout(idle)
    signal.removeEventListener('abort', end)
    stream.destroy()
  }
}

/** Node's timers know no longer time. */
const MOST_TIMER_MS = 2 ** 31 - 1

/** Clients give a pipe; a file with requests in it is handy at an author's desk. */
function openDescriptor(fd: number): Readable {
  try {
    return new Socket({ fd, readable: true, writable: false })
  } catch {
    return createReadStream('', { fd })
  }
}
