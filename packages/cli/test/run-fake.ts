import { Writable } from 'node:stream'
import type { Io } from '../src/command.ts'
import { runProgram } from '../src/program.ts'

export interface FakeOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly terminal?: boolean
  readonly columns?: number
  readonly stdin?: string | Error
  readonly signal?: AbortSignal
}

export interface Outcome {
  readonly status: number
  readonly out: string
  /** Standard output as bytes. */
  readonly bytes: Buffer
  readonly err: string
}

/** Runs the program in this process, with fakes for its inputs and outputs. */
export async function runFake(
  argv: readonly string[],
  options: FakeOptions = {},
): Promise<Outcome> {
  const out = new Collector()
  const err = new Collector()
  const isTerminal = options.terminal ?? false
  const io: Io = {
    stdout: out,
    stderr: err,
    env: { HOME: '/nonexistent', PATH: process.env['PATH'], ...options.env },
    signal: options.signal ?? new AbortController().signal,
    takeSignals: () => () => {},
    isTerminal: { stdout: isTerminal, stderr: isTerminal },
    columns: options.columns,
    nodeVersion: 'v20.0.0',
    now: () => Date.now(),
    async readStdin() {
      if (options.stdin instanceof Error) throw options.stdin
      return Buffer.from(options.stdin ?? '')
    },
  }
  const status = await runProgram(argv, io)
  return { status, out: out.bytes.toString(), bytes: out.bytes, err: err.bytes.toString() }
}

class Collector extends Writable {
  readonly #chunks: Buffer[] = []

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk)
    done()
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }
}
