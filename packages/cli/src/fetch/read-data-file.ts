import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { addAbortSignal } from 'node:stream'
import { buffer } from 'node:stream/consumers'

/** Process substitution `<(…)` of a shell, and standard input by name: pipes that already have a writer. */
const OPEN_PIPE = /^\/dev\/(?:stdin|fd\/\d+)$/

/**
 * Reads a whole file.
 *
 * Named pipes are rejected: waiting for a writer could not be aborted.
 *
 * @throws An error with a `code` of Node, `ENOTSUP` if it is not a regular file; or the signal's reason.
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

/** Reads a pipe through a socket, which does not block a thread. It closes the descriptor. */
function readPipe(fd: number, signal: AbortSignal): Promise<Uint8Array> {
  return buffer(addAbortSignal(signal, new Socket({ fd, readable: true, writable: false })))
}
