import { lstatSync, statSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, resolve } from 'node:path'
import process from 'node:process'
import { parentFault } from '../run/private-folder.ts'
import { UsageError } from '../usage-error.ts'

/** The kernel cuts longer paths of sockets, and would listen at another one. */
const MOST_PATH_BYTES = 100
const GROUP_AND_OTHERS_WRITE = 0o022

/**
 * Makes a path free for a socket: whoever can connect to it needs no secret, so its folder must be ours.
 *
 * A socket that nobody listens at is removed, as a proxy leaves one that was killed. Nothing else is.
 *
 * @returns The path as it will be used.
 * @throws {UsageError}
 */
export async function claimSocketPath(given: string): Promise<string> {
  const path = resolve(given)
  const bytes = Buffer.byteLength(path)
  if (bytes > MOST_PATH_BYTES) {
    throw problem(path, `it has ${bytes} bytes, and ${MOST_PATH_BYTES} is the limit`)
  }
  checkFolder(path)
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (facts === undefined) return path
  if (!facts.isSocket()) throw problem(path, 'something else is there')
  if (process.getuid !== undefined && facts.uid !== process.getuid()) {
    throw problem(path, 'a socket of another user is there')
  }
  if (await isAnswered(path)) throw problem(path, 'another program listens there')
  unlinkSync(path)
  return path
}

/** Who can write to the folder, or exchange it, could put another socket in the place of ours. */
function checkFolder(path: string): void {
  const folder = dirname(path)
  const facts = lstatSync(folder, { throwIfNoEntry: false })
  if (facts === undefined) throw problem(path, `there is no folder ${folder}`)
  if (facts.isSymbolicLink()) {
    throw problem(path, `the folder ${folder} is a symbolic link; use its real path`)
  }
  if (!facts.isDirectory()) throw problem(path, `${folder} is not a folder`)
  if (process.getuid === undefined) return
  if (facts.uid !== process.getuid()) {
    throw problem(path, `the folder ${folder} belongs to another user; use one of your own`)
  }
  if ((facts.mode & GROUP_AND_OTHERS_WRITE) !== 0) {
    throw problem(path, `others can write to the folder ${folder}; use one that is yours alone`)
  }
  const above = dirname(folder)
  const fault = parentFault(statSync(above))
  if (fault !== undefined) throw problem(path, `the folder ${above} ${fault}`)
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    // Only this says that nobody is there; anything else may mean that somebody is busy.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'))
  })
}

function problem(path: string, reason: string): UsageError {
  return new UsageError(`cannot listen at ${JSON.stringify(path)} (--unix-socket): ${reason}`)
}
