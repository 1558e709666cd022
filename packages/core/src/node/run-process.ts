import type { ChildProcess } from 'node:child_process'
import type { RunOutcome, RunRequest } from '../ports/programs.ts'
import { collectBytes, followText } from './bounded-output.ts'
import { endProcessTree, killTree } from './end-process-tree.ts'
import { isForNobody } from './exec-format.ts'
import { endWithUs, processRegistry } from './process-registry.ts'
import { FOREIGN_FORMAT, notStarted, spawnProgram } from './spawn-program.ts'

/** A grandchild may keep our pipe open for ever; what the plugin itself wrote is there by then. */
const AFTER_EXIT_MS = 250
/** When even KILL does not end a process (it hangs in the kernel), we go on without it. */
const AFTER_STOP_MS = 5000

type Stopped = 'timed-out' | 'too-loud' | 'aborted'

/** Runs a program without a shell, within its limits, when there is a place for it. Never rejects. */
export async function runProcess(request: RunRequest): Promise<RunOutcome> {
  const { slots } = processRegistry()
  let giveBack: () => void
  try {
    giveBack = await slots.take(request.signal)
  } catch {
    return { ended: 'aborted', tookMs: 0, stderrTail: '' }
  }
  const startedAt = performance.now()
  const tookMs = (): number => Math.round(performance.now() - startedAt)
  try {
    if (await isForNobody(request.path)) return notStarted(FOREIGN_FORMAT, tookMs())
    // Aborted while the place was on its way to us: no listener would ever hear of it.
    if (request.signal.aborted) return { ended: 'aborted', tookMs: 0, stderrTail: '' }
    request.onStart?.()
    const child = spawnProgram(request)
    return await follow(child, request, tookMs)
  } catch (error) {
    return notStarted(error, tookMs())
  } finally {
    giveBack()
  }
}

function follow(
  child: ChildProcess,
  request: RunRequest,
  tookMs: () => number,
): Promise<RunOutcome> {
  const isGroup = !request.interactive
  return new Promise((resolve, reject) => {
    let stopped: Stopped | undefined
    let endNow: () => void = () => {}
    let isFinished = false
    const timers: NodeJS.Timeout[] = []
    const stop = (why: Stopped): void => {
      if (stopped !== undefined) return
      stopped = why
      endNow = endProcessTree(child, { isGroup })
      timers.push(setTimeout(() => finish(null, 'SIGKILL'), AFTER_STOP_MS))
    }
    const stdout =
      child.stdout && collectBytes(child.stdout, request.stdoutLimit, () => stop('too-loud'))
    const tail = child.stderr && followText(child.stderr, request.onStderr ?? (() => {}))
    const abort = (): void => stop('aborted')
    const killNow = (): void => killTree(child, 'SIGKILL', isGroup)
    const limit = setTimeout(() => stop('timed-out'), request.timeoutMs)
    timers.push(limit)
    request.signal.addEventListener('abort', abort, { once: true })
    const endAlone = endWithUs(killNow)

    const leave = (): void => {
      for (const timer of timers) clearTimeout(timer)
      request.signal.removeEventListener('abort', abort)
      endAlone()
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    const finish = (status: number | null, signal: string | null): void => {
      if (isFinished) return
      isFinished = true
      leave()
      // Who was told to end may have left children behind: they go too.
      endNow()
      const ran = { tookMs: tookMs(), stderrTail: tail?.() ?? '' }
      if (stopped !== undefined) resolve({ ended: stopped, ...ran })
      else if (status === null) resolve({ ended: 'killed', signal: signal ?? 'a signal', ...ran })
      else resolve({ ended: 'exited', status, stdout: stdout?.() ?? new Uint8Array(), ...ran })
    }
    child.once('error', (error) => {
      leave()
      reject(error)
    })
    child.once('exit', (status, signal) => {
      // It kept to its limit; what is still to come is only the rest of its output.
      clearTimeout(limit)
      // Timers run before what has arrived is read: in a process that was busy meanwhile, nothing was read yet.
      const readFirst = (): void => void setImmediate(() => finish(status, signal))
      timers.push(setTimeout(readFirst, AFTER_EXIT_MS))
    })
    child.once('close', finish)
  })
}
