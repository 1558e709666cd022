import { lstatSync, statSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, resolve } from 'node:path'
import process from 'node:process'
import { parentFault } from 'kubecred/internal'
import { UsageError } from '../usage-error.ts'

/** Longer socket paths are truncated on some systems, which would create the socket elsewhere. */
const MAX_PATH_BYTES = 100
const GROUP_AND_OTHERS_WRITE = 0o022

/**
 * Prepares a path for a unix socket. Clients need no secret there, so its folder must belong to the user alone.
 *
 * Removes a stale socket, such as that of a proxy that was killed, but nothing else.
 *
 * @returns The absolute path.
 * @throws {UsageError} If the path cannot be used.
 */
export async function claimSocketPath(given: string): Promise<string> {
  const path = resolve(given)
  if (process.platform === 'win32') {
    throw problem(path, 'on Windows, Node cannot keep other users from it; use --port')
  }
  const bytes = Buffer.byteLength(path)
  if (bytes > MAX_PATH_BYTES) {
    throw problem(path, `the path has ${bytes} bytes, and ${MAX_PATH_BYTES} is the limit`)
  }
  checkFolder(path)
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (facts === undefined) return path
  if (!facts.isSocket()) throw problem(path, 'it exists and is not a socket')
  if (process.getuid !== undefined && facts.uid !== process.getuid()) {
    throw problem(path, 'the existing socket belongs to another user')
  }
  if (await isListening(path)) throw problem(path, 'another program is listening on it')
  unlinkSync(path)
  return path
}

/** Checks that no other user can replace the socket: neither in the folder nor by replacing the folder. */
function checkFolder(path: string): void {
  const folder = dirname(path)
  const facts = lstatSync(folder, { throwIfNoEntry: false })
  if (facts === undefined) throw problem(path, `the folder ${folder} does not exist`)
  if (facts.isSymbolicLink()) {
    throw problem(path, `the folder ${folder} is a symbolic link; use its real path`)
  }
  if (!facts.isDirectory()) throw problem(path, `${folder} is not a folder`)
  if (process.getuid === undefined) return
  if (facts.uid !== process.getuid()) {
    throw problem(path, `the folder ${folder} belongs to another user; use one of your own`)
  }
  if ((facts.mode & GROUP_AND_OTHERS_WRITE) !== 0) {
    throw problem(path, `others can write to the folder ${folder}; use a private one`)
  }
  const above = dirname(folder)
  const fault = parentFault(statSync(above))
  if (fault !== undefined) throw problem(path, `the folder ${above} ${fault}`)
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    // Only ECONNREFUSED proves that the socket is stale; other errors may come from a busy program.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'))
  })
}

function problem(path: string, reason: string): UsageError {
  return new UsageError(`cannot listen on ${JSON.stringify(path)} (--unix-socket): ${reason}`)
}
