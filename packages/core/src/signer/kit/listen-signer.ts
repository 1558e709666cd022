import { lstatSync, mkdirSync, type Stats, unlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { dirname, isAbsolute } from 'node:path'
import process from 'node:process'
import { ClosedError, SignerSocketError } from '../../errors/index.ts'
import {
  answerRequest,
  errorLine,
  isKubecredClient,
  LineSplitter,
  makePromptWriter,
  terminalPrompt,
} from './answer-request.ts'
import { decodeSignRequest, type SignerRequest } from './decode-sign-request.ts'
import type { SignerHandlers } from './handlers.ts'

/**
 * Options of `listenSigner()`.
 *
 * @experimental
 */
export interface ListenOptions {
  /** Path of the socket: absolute, at most 100 bytes, in a folder that you own and that is closed to other users. */
  readonly path: string
}

/**
 * A signer that listens on a unix socket.
 *
 * @experimental
 */
export interface SignerServer {
  readonly path: string
  /** Stops listening, closes all connections and removes the socket. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** More clients would only wait for the same device. */
const MAX_CLIENTS = 32

/**
 * Serves a signer on a unix socket (`pathSocket` in the kubeconfig), one JSON object per line.
 *
 * The folder protects the socket, because Node cannot identify the peer: you must own it, with mode 0700. It is created
 * if it is missing. Requests of all clients are answered one at a time. Signals are left to the calling program.
 *
 * @experimental
 *
 * @throws {SignerSocketError} `ERR_SIGNER_SOCKET` if the path is too long, its folder is accessible to other users, or
 *   another signer is listening there.
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
  const prompt = terminalPrompt({
    signal: ending.signal,
    interrupt: () => process.kill(process.pid, 'SIGINT'),
  })
  const clients = new Set<Socket>()
  let last: Promise<unknown> = Promise.resolve()
  const busy = new Set<Socket>()
  const server = createServer((socket) => {
    if (clients.size >= MAX_CLIENTS) {
      // Idle clients keep their connection open and can reconnect.
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
      answer(request, signal, write) {
        const channel = { write, readsLines: true }
        const notify = makePromptWriter(request.kinds, channel)
        const takesChain = isKubecredClient(request.kinds, channel)
        const next = last.then(() => {
          // A client that left while it was queued must not cause a touch of the device.
          signal.throwIfAborted()
          return answerRequest(request, handlers, { prompt, signal, notify, takesChain })
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
    // This removes the socket too.
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
  }
  return { path, close, [Symbol.asyncDispose]: close }
}

/** The umask makes the socket 0600 from the start. It is per process, but nothing else runs while it is changed. */
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

/** Queued requests per client. Clients normally send one at a time. */
const MAX_QUEUED = 64

interface Serving {
  /** Answers after the queued requests of other clients. */
  readonly answer: (
    request: SignerRequest,
    signal: AbortSignal,
    write: (text: string) => Promise<void>,
  ) => Promise<string>
  /** Aborted when the signer closes. */
  readonly closing: AbortSignal
}

/** Answers the requests of one client in order. They are aborted when the client disconnects. */
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
    let request: SignerRequest | undefined
    let line: string
    try {
      signal.throwIfAborted()
      request = decodeSignRequest(text)
      line = await answer(request, signal, write)
    } catch (error) {
      if (signal.aborted) return
      line = errorLine(error, request?.configuration)
    }
    await write(line)
    waiting -= 1
  }
  const breakOff = (error: Error): void => void socket.end(errorLine(error))
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const text of splitter.push(chunk)) {
        waiting += 1
        if (waiting > MAX_QUEUED) return breakOff(new Error('too many requests are queued'))
        last = last.then(() => serve(text))
      }
    } catch (error) {
      breakOff(error as Error)
    }
  })
  const leave = (): void => leaving.abort(new Error('the client disconnected'))
  socket.on('error', leave).on('end', leave).on('close', leave)
}

/** The kernel silently truncates longer paths, and the socket would be created elsewhere. */
const MAX_PATH_BYTES = 100
const OTHERS_MASK = 0o077

/**
 * Checks that a socket can be created at a path and that other users cannot reach it there.
 *
 * Removes the socket of a signer that died. A socket in use, or anything that is not a socket, is not touched.
 *
 * @throws {SignerSocketError} `ERR_SIGNER_SOCKET`
 */
async function claimSocketPath(path: string): Promise<void> {
  if (process.platform === 'win32') {
    throw socketError(
      path,
      'cannot listen: on Windows, Node cannot keep other users from a socket',
      'Use runSigner() and pathExec instead.',
    )
  }
  if (!isAbsolute(path))
    throw socketError(path, 'has a path that is not absolute', 'Begin the path with a slash.')
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    const what = `has a path longer than ${MAX_PATH_BYTES} bytes, which unix sockets cannot have`
    throw socketError(path, what, 'Choose a shorter path, for example in $XDG_RUNTIME_DIR.')
  }
  claimFolder(dirname(path), path)
  const found = stat(path)
  if (found === undefined) return
  if (!found.isSocket()) {
    throw socketError(
      path,
      'cannot listen: the path exists and is not a socket',
      'Choose another path, or remove it.',
    )
  }
  if (await isListening(path)) {
    throw socketError(
      path,
      'cannot listen: another signer is listening there',
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
      throw socketError(
        path,
        `cannot listen: its folder cannot be created (${code})`,
        undefined,
        cause,
      )
    }
  }
  const found = stat(folder)
  const uid = process.getuid?.()
  if (found?.isDirectory() !== true) {
    throw socketError(
      path,
      'cannot listen: its folder is a symbolic link or not a folder',
      'Use a real folder.',
    )
  }
  if (uid !== undefined && found.uid !== uid) {
    throw socketError(path, 'cannot listen: its folder belongs to another user')
  }
  if ((found.mode & OTHERS_MASK) !== 0) {
    const hint = `Restrict the folder to its owner: chmod 700 ${JSON.stringify(folder)}`
    throw socketError(path, 'cannot listen: its folder is accessible to other users', hint)
  }
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const finish = (isListening: boolean): void => {
      socket.destroy()
      resolve(isListening)
    }
    socket.once('connect', () => finish(true))
    socket.once('error', ({ code }: NodeJS.ErrnoException) => finish(code !== 'ECONNREFUSED'))
  })
}

function stat(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

function socketError(
  path: string,
  what: string,
  hint?: string,
  cause?: unknown,
): SignerSocketError {
  return new SignerSocketError(`at ${JSON.stringify(path)}`, what, { hint, cause })
}
