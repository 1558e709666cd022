import { createServer, type Server, type Socket } from 'node:net'
import process from 'node:process'
import { SignerSocketError } from '../../errors/signer-errors.ts'
import { ClosedError } from '../../errors/transport-errors.ts'
import { answerRequest } from './answer-request.ts'
import { claimSocketPath } from './claim-socket-path.ts'
import type { SignerHandlers } from './handlers.ts'
import { serveClient } from './serve-client.ts'
import { isOurClient, makeTell, terminalPrompt } from './signer-tools.ts'

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
