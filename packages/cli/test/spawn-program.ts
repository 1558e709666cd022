import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The built program; bootstrap builds it before the tests run. */
export const PROGRAM = fileURLToPath(new URL('../bin/kubecred.mjs', import.meta.url))

/** A running program whose output can be waited for. */
export class Running {
  readonly child: ChildProcess
  readonly #ended: Promise<unknown[]>
  out = ''
  err = ''

  constructor(
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string | undefined>> = {},
  ) {
    this.child = spawn(command, args, {
      stdio: 'pipe',
      env: { ...process.env, NO_COLOR: undefined, TERM: 'xterm', ...env },
    })
    this.#ended = once(this.child, 'close')
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.out += text
    })
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.err += text
    })
  }

  /** Waits until the output has the pattern; fails when the program ends without it. */
  async until(stream: 'out' | 'err', pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this[stream])
      if (found !== null) return found
      const source = this.child[stream === 'out' ? 'stdout' : 'stderr'] ?? this.child
      const isOver = await Promise.race([
        once(source, 'data').then(() => false),
        this.#ended.then(() => true),
      ])
      if (isOver) throw new Error(`ended without ${pattern}: ${this.out}${this.err}`)
    }
  }

  /** The exit status, once all output has been read. */
  async end(): Promise<number | null> {
    const [status] = await this.#ended
    return status as number | null
  }
}

/** Starts the built program. */
export function spawnProgram(...args: string[]): Running {
  return new Running(process.execPath, [PROGRAM, ...args])
}
