import { lstatSync, mkdirSync, type Stats, unlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { dirname, isAbsolute } from 'node:path'
import process from 'node:process'
import { ClosedError, SignerSocketError } from '../../errors/index.ts'
import {
  answerRequest,
  isOurClient,
  LineSplitter,
  makeTell,
  refusalLine,
  terminalPrompt,
} from './answer-request.ts'
import { type AskedOfSigner, decodeSignRequest } from './decode-sign-request.ts'
import type { SignerHandlers } from './handlers.ts'

export interface ListenOptions {
  /** Where the socket is made: absolute, at most 100 bytes, in a folder that is yours and closed to others. */
  readonly path: string
}

/** A signer that waits for clients at a unix socket. */
export interface SignerServer {
  readonly path: string
  /** Stops listening, ends what is open and removes the socket. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** More at once is no use: they wait for the same device. */
const MOST_CLIENTS = 32

/**
 * Lets clients reach a signer at a unix socket (`pathSocket` in the kubeconfig), one JSON object per line.
 *
 * The folder is the guard, since Node cannot tell who is at the other end: it must be yours and closed to others (0700);
 * it is made where it is missing. The requests of all clients are answered one at a time. Signals are left to the
 * program around it.
 *
 * @throws {SignerSocketError} When the path is too long, its folder is open to others, or somebody listens there.
 *
 * @example
 * await using server = await listenSigner(handlers, { path: `${process.env.XDG_RUNTIME_DIR}/signer/socket` })
 */
export async function listenSigner(
  handlers: SignerHandlers,
  { path }: ListenOptions,
): Promise<SignerServer> {
  await claimSocketPath(path)
  const ending = new AbortController()
  const ask = terminalPrompt({
    signal: ending.signal,
    interrupt: () => process.kill(process.pid, 'SIGINT'),
  })
  const clients = new Set<Socket>()
  let last: Promise<unknown> = Promise.resolve()
  const busy = new Set<Socket>()
  const server = createServer((socket) => {
    if (clients.size >= MOST_CLIENTS) {
      // Clients keep their connection while they do nothing, and can do without it.
      const [idle] = [...clients].filter((each) => !busy.has(each))
      if (idle === undefined) {
        socket.destroy()
        return
      }
      clients.delete(idle)
      idle.destroy()
    }
    clients.add(socket)
    socket.once('close', () => clients.delete(socket))
    serveClient(socket, {
      closing: ending.signal,
      answer(asked, signal, write) {
        const telling = { write, readsLines: true }
        const prompt = makeTell(asked.kinds, telling)
        const takesChain = isOurClient(asked.kinds, telling)
        const next = last.then(() => {
          // Whoever left while others were served needs no touch of the device any more.
          signal.throwIfAborted()
          return answerRequest(asked, handlers, { ask, signal, prompt, takesChain })
        })
        last = next.catch(() => {})
        busy.add(socket)
        return next.finally(() => busy.delete(socket))
      },
    })
  })
  await listen(server, path)
  const close = async (): Promise<void> => {
    if (ending.signal.aborted) return
    ending.abort(new ClosedError())
    for (const socket of clients) socket.destroy()
    // It removes the socket too.
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
  }
  return { path, close, [Symbol.asyncDispose]: close }
}

/** The mask makes the socket 0600 from its first moment. It belongs to the process, and nothing runs in between. */
function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const why = (cause as NodeJS.ErrnoException).code ?? cause.message
      reject(
        new SignerSocketError(`at ${JSON.stringify(path)}`, `cannot listen there (${why})`, {
          cause,
        }),
      )
    })
    const before = process.umask(0o177)
    try {
      server.listen(path, resolve)
    } finally {
      process.umask(before)
    }
  })
}

/** Requests of one client that wait; clients send one at a time. */
const MOST_WAITING = 64

interface Serving {
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
function serveClient(socket: Socket, { answer, closing }: Serving): void {
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

/** The kernel cuts longer ones off, silently: the socket would be somewhere else. */
const LONGEST_PATH_BYTES = 100
const OPEN_TO_OTHERS = 0o077

/**
 * Makes sure that a socket can be made at a path, and that nobody else can reach it there.
 *
 * What a signer that died has left is removed. What somebody listens at, or is no socket, is left alone.
 *
 * @throws {SignerSocketError}
 */
async function claimSocketPath(path: string): Promise<void> {
  if (!isAbsolute(path))
    throw refuse(path, 'has a path that is not absolute', 'Begin the path with a slash.')
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES) {
    const what = `has a path longer than ${LONGEST_PATH_BYTES} bytes, which unix sockets cannot have`
    throw refuse(path, what, 'Choose a shorter path, for example in $XDG_RUNTIME_DIR.')
  }
  claimFolder(dirname(path), path)
  const found = stat(path)
  if (found === undefined) return
  if (!found.isSocket()) {
    throw refuse(
      path,
      'cannot listen: something that is no socket is there',
      'Choose another path, or remove it.',
    )
  }
  if (await isAnswered(path)) {
    throw refuse(
      path,
      'cannot listen: another signer listens there',
      'Stop it, or choose another path.',
    )
  }
  unlinkSync(path)
}

function claimFolder(folder: string, path: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code !== 'EEXIST') {
      throw refuse(path, `cannot listen: its folder cannot be made (${code})`, undefined, cause)
    }
  }
  const found = stat(folder)
  const uid = process.getuid?.()
  if (found?.isDirectory() !== true) {
    throw refuse(path, 'cannot listen: its folder is a link or no folder', 'Name a real folder.')
  }
  if (uid !== undefined && found.uid !== uid) {
    throw refuse(path, 'cannot listen: its folder belongs to somebody else')
  }
  if ((found.mode & OPEN_TO_OTHERS) !== 0 && process.platform !== 'win32') {
    const hint = `Close the folder to others: chmod 700 ${JSON.stringify(folder)}`
    throw refuse(path, 'cannot listen: its folder is open to others', hint)
  }
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const tell = (isThere: boolean): void => {
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', () => tell(true))
    socket.once('error', ({ code }: NodeJS.ErrnoException) => tell(code !== 'ECONNREFUSED'))
  })
}

function stat(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

function refuse(path: string, what: string, hint?: string, cause?: unknown): SignerSocketError {
  return new SignerSocketError(`at ${JSON.stringify(path)}`, what, { hint, cause })
}
