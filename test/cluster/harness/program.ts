import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Watchdog } from './watchdog.ts'

interface ProgramOptions {
  readonly name: string
  readonly path: string
  readonly args: readonly string[]
  /** Variables added to a nearly empty environment. */
  readonly env?: Readonly<Record<string, string>>
  /** The folder of its log, and its working folder. */
  readonly folder: string
  readonly watchdog: Watchdog
}

const LOOK_MS = 50
const READY_MS = 60_000
const TERM_MS = 10_000
const TAIL_LINES = 25

/** A program of the cluster that runs until it is stopped. */
export class Program {
  readonly name: string
  readonly logFile: string
  readonly #child: ChildProcess
  readonly #ended: Promise<string>
  #end: string | undefined

  constructor({ name, path, args, env = {}, folder, watchdog }: ProgramOptions) {
    this.name = name
    this.logFile = join(folder, `${name}.log`)
    const log = openSync(this.logFile, 'a')
    const child = spawn(path, args, {
      cwd: folder,
      // HOME, so that no program reads or writes the developer's own.
      env: { PATH: process.env['PATH'], HOME: folder, ...env },
      detached: true,
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    this.#child = child
    const { pid } = child
    if (pid !== undefined) watchdog.guard(pid)
    this.#ended = new Promise((resolve) => {
      const end = (words: string): void => {
        this.#end = words
        if (pid !== undefined) watchdog.release(pid)
        resolve(words)
      }
      child.once('error', (error) => end(error.message))
      child.once('exit', (status, signal) => end(signal ?? `status ${status}`))
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Waits until the program is ready. @throws {Error} It exits or takes too long; the message has the end of its log. */
  async untilReady(isReady: () => Promise<boolean>): Promise<void> {
    const limit = Date.now() + READY_MS
    while (!(await isReady().catch(() => false))) {
      if (this.#end !== undefined)
        throw new Error(`${this.name} has ended (${this.#end})${this.tail}`)
      if (Date.now() > limit) throw new Error(`${this.name} does not get ready${this.tail}`)
      await pause(LOOK_MS)
    }
  }

  /** Terminates the program and its children, first with SIGTERM, then with SIGKILL. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    if (this.#end !== undefined) return
    this.#signal(signal)
    const timer = setTimeout(() => this.#signal('SIGKILL'), TERM_MS)
    await this.#ended
    clearTimeout(timer)
    // Its children, for example a command in a pod, are in its process group.
    this.#signal('SIGKILL')
  }

  /** Suspends the program: its connections stay open, and nothing is answered. */
  pause(): void {
    this.#signal('SIGSTOP')
  }

  resume(): void {
    this.#signal('SIGCONT')
  }

  /** Returns the end of its log, for an error message. */
  get tail(): string {
    const lines = readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES)
    return `; the end of ${this.logFile}:\n${lines.join('\n')}`
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.pid, signal)
    } catch {
      // No process is left.
    }
  }
}
