import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { addAbortSignal } from 'node:stream'
import { buffer } from 'node:stream/consumers'

/** What a shell puts in the place of `<(…)`, and standard input by its name: the other end is open already. */
const OPEN_PIPE = /^\/dev\/(?:stdin|fd\/\d+)$/

/**
 * Reads a file to its end.
 *
 * A named pipe that nobody writes to would be waited for, and nothing ends such a wait: it is refused.
 *
 * @throws An error with a `code` as Node has them, `ENOTSUP` for what is not a regular file; or the signal's reason.
 */
export async function readDataFile(path: string, signal: AbortSignal): Promise<Uint8Array> {
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  const facts = fstatSync(descriptor)
  if (facts.isFIFO() && OPEN_PIPE.test(path)) return readPipe(descriptor, signal)
  closeSync(descriptor)
  if (facts.isFile()) return readFile(path, { signal })
  const code = facts.isDirectory() ? 'EISDIR' : 'ENOTSUP'
  throw Object.assign(new Error(`${path} is not a regular file`), { code })
}

/** With a socket, because that does not wait in a thread. It closes the descriptor. */
function readPipe(fd: number, signal: AbortSignal): Promise<Uint8Array> {
  return buffer(addAbortSignal(signal, new Socket({ fd, readable: true, writable: false })))
}
