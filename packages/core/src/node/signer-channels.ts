import type { ChildProcess } from 'node:child_process'
import type { Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import process from 'node:process'
import type { Writable } from 'node:stream'
import { SignerSocketError } from '../errors/index.ts'
import { quoteName } from '../kubeconfig/problem.ts'
import type { RunFailure } from '../ports/programs.ts'
import type {
  ChannelListener,
  SignerChannel,
  SignerChannels,
  SignerStart,
} from '../ports/signer-channel.ts'
import { forwardLines } from './bounded-output.ts'
import { endProcessTree, killTree } from './end-process-tree.ts'
import { processProtocol, takePlace } from './process-registry.ts'
import { FOREIGN_FORMAT, isForeignBinary, notStarted, spawnProgram } from './spawn-program.ts'

/** Real processes and sockets. */
export const nodeSignerChannels: SignerChannels = {
  start: startSigner,
  dial: ({ path }, listener, signal) => dialSigner(path, listener, signal),
}

/** A grandchild may keep our pipe open for ever; what the signer itself wrote is there by then. */
const AFTER_EXIT_MS = 250
/** How long a signer may take to end by itself after it was told that nothing more comes. */
const IN_ORDER_MS = 2000
/** When even KILL does not end a process (it hangs in the kernel), we go on without it. */
const AFTER_STOP_MS = 5000

/**
 * Starts a signer, with a pipe for further requests as descriptor 3.
 *
 * It has one of the slots for plugins, and the terminal if it gets that, until its first answer. Never rejects.
 */
export async function startSigner(
  start: SignerStart,
  listener: ChannelListener,
): Promise<SignerChannel | RunFailure> {
  const { signal, path } = start
  const aborted: RunFailure = { ended: 'aborted', tookMs: 0, stderrTail: '' }
  let giveBack: () => void
  try {
    giveBack = await takePlace(start)
  } catch {
    return aborted
  }
  try {
    if (await isForeignBinary(path)) throw FOREIGN_FORMAT
    if (signal.aborted) throw signal.reason
    start.onStart?.()
    const child = spawnProgram({ ...start, args: [] }, ['pipe'])
    await isSpawned(child)
    return follow(child, start, listener, giveBack)
  } catch (error) {
    giveBack()
    return signal.aborted ? aborted : notStarted(error, 0)
  }
}

function isSpawned(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
}

function follow(
  child: ChildProcess,
  { interactive, onStderr }: SignerStart,
  listener: ChannelListener,
  giveBack: () => void,
): SignerChannel {
  const isGroup = !interactive
  const startedAt = performance.now()
  const requests = child.stdio[3] as Writable & Socket
  // Nobody reads there any more; the end of the process will tell.
  requests.on('error', () => {})
  requests.resume()
  child.on('error', () => {})
  child.stdout?.on('data', (bytes: Buffer) => listener.onOutput(bytes))
  const tail = child.stderr && forwardLines(child.stderr, onStderr)
  const stderrTail = (): string => tail?.() ?? ''
  const endAlone = processProtocol().endWithProcess(() => killTree(child, 'SIGKILL', isGroup))
  const timers: NodeJS.Timeout[] = []
  const streams = [child.stdout, child.stderr, requests] as (Socket | null)[]
  let finished: () => void = () => {}
  const gone = new Promise<void>((resolve) => {
    finished = resolve
  })
  let killRest: () => void = () => {}
  let isStopped = false
  let isFinished = false

  const finish = (status: number | null, signal: string | null): void => {
    if (isFinished) return
    isFinished = true
    for (const timer of timers) clearTimeout(timer)
    endAlone()
    giveBack()
    for (const stream of streams) stream?.destroy()
    // Who was told to end may have left children behind: they go too.
    killRest()
    listener.onEnd({
      how: status === null ? `was ended by ${signal ?? 'a signal'}` : `ended with status ${status}`,
      exitStatus: status ?? undefined,
      isClean: status === 0,
      tookMs: Math.round(performance.now() - startedAt),
      stderrTail: stderrTail(),
    })
    finished()
  }
  const stop = (): void => {
    if (isStopped || isFinished) return
    isStopped = true
    killRest = endProcessTree(child, { isGroup })
    timers.push(setTimeout(() => finish(null, 'SIGKILL'), AFTER_STOP_MS))
  }
  child.once('exit', (status, signal) => {
    // Timers run before what has arrived is read: in a process that was busy meanwhile, nothing was read yet.
    const readFirst = (): void => void setImmediate(() => finish(status, signal))
    timers.push(setTimeout(readFirst, AFTER_EXIT_MS))
  })
  child.once('close', finish)

  return {
    canAsk: interactive,
    stderrTail,
    send: (line) => void requests.write(`${line}\n`),
    hold(isAwaited) {
      if (!isAwaited) giveBack()
      for (const each of [child, ...streams]) {
        if (isAwaited) each?.ref()
        else each?.unref()
      }
    },
    end(how) {
      requests.end()
      if (how === 'now') stop()
      // Without keeping us alive: what is left then is ended with us.
      else timers.push(setTimeout(stop, IN_ORDER_MS).unref())
      return gone
    },
  }
}

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
        isClean: failure === '' || HUNG_UP.includes(failure),
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
