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

/** Where a sentence goes on in the next line; a terminal is told to erase the rest of the first. */
const BROKEN_LINE = new RegExp(`(?:${String.fromCharCode(27)}\\[K)?\\r?\\n\\r? {7}(?=\\S)`, 'g')

export interface DemoRunOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly onTerminal?: boolean
  /** A folder of an earlier run. */
  readonly folder?: string
}

/** A demo in a process of its own, with a folder for temporary things of its own. */
export class DemoRun {
  readonly child: ChildProcess
  /** Where the demo keeps what it needs; nothing else is in it. */
  readonly temporary: string
  /** Where a browser would be: it writes down what it was to open. */
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

  /** The output with every sentence on one line, however wide the terminal is. */
  get story(): string {
    return this.out.replaceAll(BROKEN_LINE, ' ')
  }

  /** Waits until the story has the pattern; fails when the demo ends without it. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.story)
      if (found !== null) return found
      const isOver = await Promise.race([
        once(this.child.stdout ?? this.child, 'data').then(() => false),
        this.#closed.then(() => true),
      ])
      if (isOver && !pattern.test(this.story)) {
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

  /** What the browser was asked to open. */
  get opened(): string | undefined {
    try {
      return readFileSync(join(this.#programs, 'opened'), 'utf8').trim() || undefined
    } catch {
      return undefined
    }
  }

  /** Everything that is left of it: files, sockets, and processes that know its folder. */
  get remains(): readonly string[] {
    return [...readdirSync(this.temporary), ...processesWith(this.temporary)]
  }

  /** Ends it, however it is, and removes what the test made. */
  dispose(): void {
    this.child.kill('SIGKILL')
    for (const folder of [this.temporary, this.#programs]) {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Processes whose environment names a folder. */
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
