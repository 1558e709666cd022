import { lstatSync, mkdirSync, type Stats, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, isAbsolute } from 'node:path'
import process from 'node:process'
import { SignerSocketError } from '../../errors/signer-errors.ts'

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
export async function claimSocketPath(path: string): Promise<void> {
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
