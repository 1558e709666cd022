import type { Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import process from 'node:process'
import { SignerSocketError } from '../errors/index.ts'
import { quoteName } from '../kubeconfig/quote-name.ts'
import type { ChannelListener, SignerChannel } from '../ports/signer-channel.ts'

/** The kernel cuts longer ones off, silently: we would write to another socket. */
const LONGEST_PATH_BYTES = 100
const OTHERS_WRITE = 0o022
const STICKY = 0o1000
/** The other end was closed before it had read what we wrote: nothing was done about it. */
const HUNG_UP: readonly string[] = ['EPIPE', 'ECONNRESET']

/**
 * Connects to the unix socket of a signer.
 *
 * Before a PIN is written there, folder and socket must be such that nobody else could have put them there.
 *
 * @throws {SignerSocketError}
 */
export async function dialSigner(
  path: string,
  listener: ChannelListener,
  signal: AbortSignal,
): Promise<SignerChannel> {
  await checkSocket(path)
  const socket = await open(path, signal)
  const startedAt = performance.now()
  let failure = ''
  const gone = new Promise<void>((resolve) => {
    socket.once('close', () => {
      listener.onEnd({
        how: failure === '' ? 'closed the connection' : `broke the connection (${failure})`,
        isInOrder: failure === '' || HUNG_UP.includes(failure),
        tookMs: Math.round(performance.now() - startedAt),
        stderrTail: '',
      })
      resolve()
    })
  })
  socket.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    failure = code ?? message
  })
  socket.on('data', (bytes: Buffer) => listener.onOutput(bytes))
  return {
    // Whom and how it asks is its own business.
    canAsk: true,
    stderrTail: () => '',
    send: (line) => void socket.write(`${line}\n`),
    hold(isAwaited) {
      if (isAwaited) socket.ref()
      else socket.unref()
    },
    end() {
      // It sees the end of our requests; there is nothing of ours in it that would have to be waited for.
      socket.destroy()
      return gone
    },
  }
}

function open(path: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    const abort = (): void => {
      socket.destroy()
      reject(signal.reason)
    }
    const leave = (): void => signal.removeEventListener('abort', abort)
    const fail = ({ code = 'unknown' }: NodeJS.ErrnoException): void => {
      leave()
      const why = code === 'ECONNREFUSED' ? 'nobody listens there' : `cannot be reached (${code})`
      reject(refuse(path, why, 'Start the signer.'))
    }
    signal.addEventListener('abort', abort, { once: true })
    socket.once('error', fail)
    socket.once('connect', () => {
      leave()
      socket.off('error', fail)
      resolve(socket)
    })
  })
}

async function checkSocket(path: string): Promise<void> {
  if (process.getuid === undefined) {
    throw refuse(path, 'cannot be used: there are no unix sockets here', 'Use pathExec instead.')
  }
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES) {
    throw refuse(
      path,
      `has more than ${LONGEST_PATH_BYTES} bytes, which is too long for a socket`,
      'Choose a shorter path, for example in $XDG_RUNTIME_DIR.',
    )
  }
  const folder = dirname(path)
  const owner = process.getuid()
  const folderFacts = await look(path, folder)
  if (!folderFacts.isDirectory()) {
    throw refuse(path, 'is in something that is no folder, or a symbolic link', REAL_PATH)
  }
  checkOwner(path, 'is in a folder that', folder, folderFacts, owner)
  await checkAbove(path, folder, owner)
  const facts = await look(path, path)
  if (!facts.isSocket()) throw refuse(path, 'is no socket, or a symbolic link', REAL_PATH)
  checkOwner(path, 'is a socket that', path, facts, owner)
}

/** Who can exchange a folder further up can exchange everything below it. */
async function checkAbove(path: string, folder: string, owner: number): Promise<void> {
  for (let above = dirname(folder); ; above = dirname(above)) {
    const facts = await look(path, above)
    if (!facts.isDirectory()) {
      throw refuse(path, `is behind a symbolic link (${quoteName(above)})`, REAL_PATH)
    }
    // In a sticky folder, such as /tmp, nobody can move what belongs to others.
    const isSticky = (facts.mode & STICKY) !== 0
    if (!isSticky) checkOwner(path, `is below a folder that`, above, facts, owner)
    if (above === dirname(above)) return
  }
}

const REAL_PATH = 'Give the real path of the socket in pathSocket.'

async function look(path: string, part: string): Promise<Stats> {
  try {
    return await lstat(part)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw refuse(path, 'does not exist', 'Start the signer.')
    throw refuse(path, `cannot be inspected (${code})`)
  }
}

function checkOwner(path: string, what: string, part: string, facts: Stats, owner: number): void {
  if (facts.uid !== owner && facts.uid !== 0) {
    throw refuse(path, `${what} belongs to somebody else`)
  }
  if ((facts.mode & OTHERS_WRITE) !== 0) {
    throw refuse(
      path,
      `${what} others can change`,
      `Close it to them: chmod go-w ${quoteName(part)}.`,
    )
  }
}

function refuse(path: string, what: string, hint?: string): SignerSocketError {
  return new SignerSocketError(`at ${quoteName(path)}`, what, { hint })
}
