import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Ended as EndedProgram,
  onTerminal,
} from '../../../core/test/fixtures/running-program.ts'
import { PROGRAM, Running } from '../spawn-program.ts'

export const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0
export const NEEDS_KUBECTL = 'needs kubectl: apt-get install kubernetes-client'
export const hasCurl = spawnSync('curl', ['--version']).status === 0
export const NEEDS_CURL = 'needs curl: apt-get install curl'

export type Environment = Readonly<Record<string, string | undefined>>

/** How a program ended, and what it wrote. */
export interface Ended extends EndedProgram {
  readonly signal: NodeJS.Signals | null
}

/** A folder for the programs of one test, so that their files are separate. */
export class Home implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'kubecred-home-'))
  /** XDG_RUNTIME_DIR of the programs. */
  readonly private = join(this.folder, 'kubecred')
  readonly #running = new Set<Running>()

  /** Starts the built program, with modules that are preloaded. */
  start(
    args: readonly string[],
    env: Environment = {},
    { preload = [] }: { readonly preload?: readonly string[] } = {},
  ): Running {
    const first = preload.flatMap((module) => ['--import', module])
    return this.#remember(
      new Running(process.execPath, [...first, PROGRAM, ...args], this.env(env)),
    )
  }

  /** Runs the built program to its end. */
  async run(args: readonly string[], env: Environment = {}): Promise<Ended> {
    return ended(this.start(args, env))
  }

  /** Starts a command line at its own terminal. */
  atTerminal(line: string, env: Environment = {}): Running {
    const more = { ...this.env(env), SHELL: '/bin/sh' }
    return this.#remember(new Running(...onTerminal(`exec ${line}`), more))
  }

  env(more: Environment = {}): Environment {
    return { XDG_RUNTIME_DIR: this.folder, NODE_OPTIONS: undefined, ...more }
  }

  /** Everything that was written so far, to explain a failed test. */
  get log(): string {
    return [...this.#running].map(({ out, err }) => JSON.stringify({ out, err })).join('\n')
  }

  /** The files that programs left behind. */
  leftovers(): string[] {
    return readdirSync(this.folder).includes('kubecred') ? readdirSync(this.private) : []
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  write(name: string, content: string, mode = 0o600): string {
    const path = this.path(name)
    writeFileSync(path, content)
    chmodSync(path, mode)
    return path
  }

  makeFolder(name: string, mode = 0o700): string {
    const path = this.path(name)
    mkdirSync(path)
    chmodSync(path, mode)
    return path
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#running) {
      // The processes that a command started must end too.
      child.stdin?.destroy()
      child.kill('SIGTERM')
    }
    rmSync(this.folder, { recursive: true, force: true })
  }

  #remember(running: Running): Running {
    this.#running.add(running)
    return running
  }
}

/** Waits for a program to end. */
export async function ended(running: Running): Promise<Ended> {
  running.child.stdin?.end()
  await running.end()
  const { exitCode, signalCode } = running.child
  return { status: exitCode, signal: signalCode, out: running.out, err: running.err }
}

/** Quotes text for a shell. */
export const PROGRAM_LINE = `'${process.execPath}' '${PROGRAM}'`
