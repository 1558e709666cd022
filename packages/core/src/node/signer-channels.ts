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
import { SIGNER_FD_VARIABLE } from '../signer/signer-protocol.ts'
import { forwardLines } from './bounded-output.ts'
import { endProcessTree, killTree } from './end-process-tree.ts'
import { acquireRunSlot, processProtocol } from './process-registry.ts'
import { FOREIGN_FORMAT, isForeignBinary, notStarted, spawnProgram } from './spawn-program.ts'
import { isBatchFile } from './windows-programs.ts'

/** The signer channels port: real processes and Unix sockets. */
export const nodeSignerChannels: SignerChannels = {
  start: startSigner,
  dial: ({ path }, listener, signal) => dialSigner(path, listener, signal),
}

/** How long to wait for the output after 'exit': it has arrived by then, but a grandchild may keep the pipe open. */
const AFTER_EXIT_MS = 250
/** How long a signer may take to exit after its input has ended. */
const EXIT_GRACE_MS = 2000
/** How long to wait for a process that is being ended: one that hangs in the kernel ignores even SIGKILL. */
const AFTER_STOP_MS = 5000

/**
 * Starts a signer, with a pipe for further requests as descriptor 3.
 *
 * Until its first response it occupies a slot for plugins, and the terminal if it is interactive. Never rejects.
 */
export async function startSigner(
  start: SignerStart,
  listener: ChannelListener,
): Promise<SignerChannel | RunFailure> {
  const { signal, path } = start
  const aborted: RunFailure = { ended: 'aborted', tookMs: 0, stderrTail: '' }
  let releaseSlot: () => void
  try {
    releaseSlot = await acquireRunSlot(start)
  } catch {
    return aborted
  }
  try {
    if (await isForeignBinary(path)) throw FOREIGN_FORMAT
    if (signal.aborted) throw signal.reason
    start.onStart?.()
    const child = spawnProgram({ ...start, env: requestEnvironment(start), args: [] }, ['pipe'])
    await untilSpawned(child)
    return openChannel(child, start, listener, releaseSlot)
  } catch (error) {
    releaseSlot()
    return signal.aborted ? aborted : notStarted(error, 0)
  }
}

/** cmd.exe does not pass the descriptor on: a signer that is a batch file answers one request and exits. */
function requestEnvironment({ path, env }: SignerStart): SignerStart['env'] {
  if (process.platform !== 'win32' || !isBatchFile(path)) return env
  const { [SIGNER_FD_VARIABLE]: _, ...others } = env
  return others
}

function untilSpawned(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
}

function openChannel(
  child: ChildProcess,
  { interactive, onStderr }: SignerStart,
  listener: ChannelListener,
  releaseSlot: () => void,
): SignerChannel {
  const isGroup = !interactive
  const startedAt = performance.now()
  const requests = child.stdio[3] as Writable & Socket
  // The signer has closed its input; the exit of the process is reported instead.
  requests.on('error', () => {})
  requests.resume()
  child.on('error', () => {})
  child.stdout?.on('data', (bytes: Buffer) => listener.onOutput(bytes))
  const tail = child.stderr && forwardLines(child.stderr, onStderr)
  const stderrTail = (): string => tail?.() ?? ''
  const unregister = processProtocol().endWithProcess(() => killTree(child, 'SIGKILL', isGroup))
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
    unregister()
    releaseSlot()
    for (const stream of streams) stream?.destroy()
    // A stopped signer may have left children behind.
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
    // Timers run before I/O: if this process was busy, the output has arrived but is not read yet.
    const readFirst = (): void => void setImmediate(() => finish(status, signal))
    timers.push(setTimeout(readFirst, AFTER_EXIT_MS))
  })
  child.once('close', finish)

  return {
    canPrompt: interactive,
    stderrTail,
    send: (line) => void requests.write(`${line}\n`),
    setRef(isAwaited) {
      if (!isAwaited) releaseSlot()
      for (const each of [child, ...streams]) {
        if (isAwaited) each?.ref()
        else each?.unref()
      }
    },
    end(how) {
      requests.end()
      if (how === 'now') stop()
      // Does not keep this process alive: a signer that is left is ended with it.
      else timers.push(setTimeout(stop, EXIT_GRACE_MS).unref())
      return gone
    },
  }
}

/** The kernel truncates longer paths silently, and the connection would go to another socket. */
const MAX_SOCKET_PATH_BYTES = 100
const OTHERS_WRITE = 0o022
const STICKY = 0o1000
/** The signer closed before it read the request, so it has not processed it. */
const HUNG_UP: readonly string[] = ['EPIPE', 'ECONNRESET']

/**
 * Connects to the Unix socket of a signer.
 *
 * A PIN may be sent to it, so the socket and its folders must be such that no other user could have created them.
 *
 * @throws {SignerSocketError} `ERR_SIGNER_SOCKET`
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
    // It has its own way to ask the user.
    canPrompt: true,
    stderrTail: () => '',
    send: (line) => void socket.write(`${line}\n`),
    setRef(isAwaited) {
      if (isAwaited) socket.ref()
      else socket.unref()
    },
    end() {
      // The signer sees the end of the connection; it is not our process, so there is no exit to wait for.
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
    const cleanUp = (): void => signal.removeEventListener('abort', abort)
    const fail = ({ code = 'unknown' }: NodeJS.ErrnoException): void => {
      cleanUp()
      const why = code === 'ECONNREFUSED' ? 'refuses connections' : `cannot be reached (${code})`
      reject(socketError(path, why, 'Start the signer.'))
    }
    signal.addEventListener('abort', abort, { once: true })
    socket.once('error', fail)
    socket.once('connect', () => {
      cleanUp()
      socket.off('error', fail)
      resolve(socket)
    })
  })
}

async function checkSocket(path: string): Promise<void> {
  if (process.getuid === undefined) {
    throw socketError(
      path,
      'cannot be used: on Windows, Node cannot show whose socket it is',
      'Use pathExec instead.',
    )
  }
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) {
    throw socketError(
      path,
      `has a path of more than ${MAX_SOCKET_PATH_BYTES} bytes, which is too long for a socket`,
      'Choose a shorter path, for example in $XDG_RUNTIME_DIR.',
    )
  }
  const folder = dirname(path)
  const owner = process.getuid()
  const folderFacts = await inspect(path, folder)
  if (!folderFacts.isDirectory()) {
    throw socketError(path, 'is not in a folder, or its folder is a symbolic link', REAL_PATH)
  }
  checkOwner(path, 'is in a folder that', folder, folderFacts, owner)
  await checkParents(path, folder, owner)
  const facts = await inspect(path, path)
  if (!facts.isSocket())
    throw socketError(path, 'is not a socket, or is a symbolic link', REAL_PATH)
  checkOwner(path, 'is a socket that', path, facts, owner)
}

/** Checks the parent folders: a user who can replace one of them can replace everything below it. */
async function checkParents(path: string, folder: string, owner: number): Promise<void> {
  for (let above = dirname(folder); ; above = dirname(above)) {
    const facts = await inspect(path, above)
    if (!facts.isDirectory()) {
      throw socketError(path, `is behind a symbolic link (${quoteName(above)})`, REAL_PATH)
    }
    // In a sticky folder, such as /tmp, users cannot rename the files of others.
    const isSticky = (facts.mode & STICKY) !== 0
    if (!isSticky) checkOwner(path, `is below a folder that`, above, facts, owner)
    if (above === dirname(above)) return
  }
}

const REAL_PATH = 'Give the real path of the socket in pathSocket.'

async function inspect(path: string, part: string): Promise<Stats> {
  try {
    return await lstat(part)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw socketError(path, 'does not exist', 'Start the signer.')
    throw socketError(path, `cannot be inspected (${code})`)
  }
}

function checkOwner(path: string, what: string, part: string, facts: Stats, owner: number): void {
  if (facts.uid !== owner && facts.uid !== 0) {
    throw socketError(path, `${what} belongs to another user`)
  }
  if ((facts.mode & OTHERS_WRITE) !== 0) {
    throw socketError(
      path,
      `${what} other users can change`,
      `Remove their write permission: chmod go-w ${quoteName(part)}.`,
    )
  }
}

function socketError(path: string, what: string, hint?: string): SignerSocketError {
  return new SignerSocketError(`at ${quoteName(path)}`, what, { hint })
}
