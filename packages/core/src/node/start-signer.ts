import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import type { RunFailure } from '../ports/programs.ts'
import type { ChannelListener, SignerChannel, SignerStart } from '../ports/signer-channel.ts'
import { followText } from './bounded-output.ts'
import { endProcessTree, killTree } from './end-process-tree.ts'
import { isForNobody } from './exec-format.ts'
import { endWithUs, processRegistry } from './process-registry.ts'
import { FOREIGN_FORMAT, notStarted, spawnProgram } from './spawn-program.ts'

/** A grandchild may keep our pipe open for ever; what the signer itself wrote is there by then. */
const AFTER_EXIT_MS = 250
/** How long a signer may take to end by itself after it was told that nothing more comes. */
const IN_ORDER_MS = 2000
/** When even KILL does not end a process (it hangs in the kernel), we go on without it. */
const AFTER_STOP_MS = 5000

/**
 * Starts a signer, with a pipe for further requests as descriptor 3.
 *
 * It takes one of the places for plugins until nobody waits for it the first time. Never rejects.
 */
export async function startSigner(
  start: SignerStart,
  listener: ChannelListener,
): Promise<SignerChannel | RunFailure> {
  const { signal, path } = start
  const aborted: RunFailure = { ended: 'aborted', tookMs: 0, stderrTail: '' }
  let giveBack: () => void
  try {
    giveBack = await processRegistry().slots.take(signal)
  } catch {
    return aborted
  }
  try {
    if (await isForNobody(path)) throw FOREIGN_FORMAT
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
  const tail = child.stderr && followText(child.stderr, onStderr)
  const stderrTail = (): string => tail?.() ?? ''
  const endAlone = endWithUs(() => killTree(child, 'SIGKILL', isGroup))
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
      isInOrder: status === 0,
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
