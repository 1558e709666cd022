import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The built program; bootstrap builds it before the tests run. */
const PROGRAM = fileURLToPath(new URL('../bin/kubecred-demo.mjs', import.meta.url))
const SCRIPT = 'script'
export const hasScript = spawnSync(SCRIPT, ['--version']).status === 0
export const hasSoftHsm = ['softhsm2-util', 'pkcs11-tool'].every(
  (name) => spawnSync(name, ['--help']).error === undefined,
)

/** A line break within a sentence; on a terminal the rest of the line is erased before it. */
const BROKEN_LINE = new RegExp(`(?:${String.fromCharCode(27)}\\[K)?\\r?\\n\\r? {7}(?=\\S)`, 'g')

export interface DemoRunOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly onTerminal?: boolean
  /** The folder of an earlier run. */
  readonly folder?: string
}

/** A demo that runs in a child process, with its own temporary folder. */
export class DemoRun {
  readonly child: ChildProcess
  /** The temporary folder of the demo; it contains nothing else. */
  readonly temporary: string
  /** A folder with a fake browser that records the URL it was asked to open. */
  readonly #programs: string
  readonly #closed: Promise<unknown[]>
  out = ''
  err = ''

  constructor({ args = [], env = {}, onTerminal = false, folder }: DemoRunOptions = {}) {
    this.temporary = folder ?? mkdtempSync(join(tmpdir(), 'demo-test-'))
    this.#programs = mkdtempSync(join(tmpdir(), 'demo-programs-'))
    const browser = join(this.#programs, 'xdg-open')
    writeFileSync(browser, `#!/bin/sh\necho "$1" > '${this.#programs}/opened'\n`)
    chmodSync(browser, 0o755)
    const command = [process.execPath, PROGRAM, ...args]
    const [program = '', ...rest] = onTerminal
      ? [
          SCRIPT,
          '-qfec',
          `stty cols 90; exec ${command.map((word) => `'${word}'`).join(' ')}`,
          '/dev/null',
        ]
      : command
    const { PATH = '' } = process.env
    this.child = spawn(program, rest, {
      stdio: 'pipe',
      env: {
        PATH: `${this.#programs}${delimiter}${PATH}`,
        HOME: this.temporary,
        TERM: 'xterm',
        TMPDIR: this.temporary,
        ...env,
      },
    })
    this.#closed = once(this.child, 'close')
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.out += text
    })
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.err += text
    })
  }

  /** The output with every sentence on one line, whatever the width of the terminal. */
  get unwrapped(): string {
    return this.out.replaceAll(BROKEN_LINE, ' ')
  }

  /** Waits until the output matches a pattern; fails if the demo ends without it. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.unwrapped)
      if (found !== null) return found
      const isOver = await Promise.race([
        once(this.child.stdout ?? this.child, 'data').then(() => false),
        this.#closed.then(() => true),
      ])
      if (isOver && !pattern.test(this.unwrapped)) {
        throw new Error(`ended without ${pattern}: ${this.out}${this.err}`)
      }
    }
  }

  type(keys: string): void {
    this.child.stdin?.write(keys)
  }

  async end(): Promise<number | string | null> {
    const [status, signal] = await this.#closed
    return (status ?? signal) as number | string | null
  }

  /** The URL that the browser was asked to open. */
  get opened(): string | undefined {
    try {
      return readFileSync(join(this.#programs, 'opened'), 'utf8').trim() || undefined
    } catch {
      return undefined
    }
  }

  /** What the demo has left behind: files, sockets, and processes with its folder in their environment. */
  get remains(): readonly string[] {
    return [...readdirSync(this.temporary), ...processesWith(this.temporary)]
  }

  /** Kills the demo and removes the folders of the test. */
  dispose(): void {
    this.child.kill('SIGKILL')
    for (const folder of [this.temporary, this.#programs]) {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Lists the processes whose environment contains a folder. */
export function processesWith(folder: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(folder)) return []
      return [`${pid}: ${readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')}`]
    } catch {
      return []
    }
  })
}
