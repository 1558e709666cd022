import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { Running } from '../../packages/cli/test/spawn-program.ts'

const execute = promisify(execFile)
const PNPM = fileURLToPath(new URL('../../node_modules/pnpm/bin/pnpm.cjs', import.meta.url))
/** The programs in PATH: all but the first two are for pnpm's shell scripts. */
const FOUND_ON_PATH = ['node', 'sh', 'sed', 'dirname', 'uname']
/** Variables for the access to a registry. */
const FOR_REGISTRY = /^(?:npm_config_.*|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_.*)$/i

/** The path of one packed package. */
export function tarball(name: string): string {
  const path = inject('tarballs')[name]
  if (path === undefined) throw new Error(`${name} is not packed: add it to tools/pack.mjs`)
  return path
}

interface Builder {
  buildExecutable(out: string): Promise<unknown>
}

/** The exit status and the output of a program. */
export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

/** The programs, installed as by a user in a separate folder. */
export class Installed implements Disposable {
  // A short name, because the paths of sockets are limited.
  readonly #folder = mkdtempSync(join(tmpdir(), 'kp-'))
  readonly #path = join(this.#folder, 'path')
  #programs = ''

  /** Installs all packages globally, each with its dependencies below itself. */
  static async withNpm(): Promise<Installed> {
    const made = new Installed()
    const prefix = join(made.#folder, 'prefix')
    const how = ['--prefix', prefix, '--install-strategy=nested', '--loglevel=error']
    const flags = ['--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund']
    const packages = Object.values(inject('tarballs'))
    await made.#install('npm', ['install', '-g', ...how, ...flags, ...packages])
    made.#programs = join(prefix, 'bin')
    return made
  }

  /** Installs the programs so that a package finds only its declared dependencies. */
  static async withPnpm(): Promise<Installed> {
    const made = new Installed()
    const names = ['@kubecred/cli', '@kubecred/demo', '@kubecred/pkcs11']
    const dependencies = Object.fromEntries(names.map((name) => [name, `file:${tarball(name)}`]))
    // Dependencies on our own packages also use the packed files.
    const overrides = Object.fromEntries(
      Object.entries(inject('tarballs')).map(([name, path]) => [name, `file:${path}`]),
    )
    const manifest = JSON.stringify({ private: true, dependencies, pnpm: { overrides } })
    writeFileSync(join(made.#folder, 'package.json'), manifest)
    const how = ['--config.hoist=false', '--store-dir', join(made.#folder, 'store')]
    const flags = ['--no-optional', '--ignore-scripts', '--reporter=silent']
    await made.#install(process.execPath, [PNPM, 'install', ...how, ...flags])
    made.#programs = join(made.#folder, 'node_modules/.bin')
    return made
  }

  /** Builds the single executable. Node is not in PATH. */
  static async asExecutable(): Promise<Installed> {
    const made = new Installed(['sh'])
    const script = new URL('../../tools/build-executable.mjs', import.meta.url)
    const { buildExecutable }: Builder = await import(script.href)
    made.#programs = join(made.#folder, 'executable')
    await buildExecutable(made.#programs)
    return made
  }

  private constructor(programs = FOUND_ON_PATH) {
    mkdirSync(this.#path)
    for (const name of programs) symlinkSync(find(name), join(this.#path, name))
  }

  /** The folder that has the programs. */
  get programs(): string {
    return this.#programs
  }

  /** Starts a program with an empty home and nothing else in its environment. */
  start(
    program: string,
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Running {
    const home = mkdtempSync(join(this.#folder, 'h-'))
    const all = { PATH: this.#path, HOME: home, TMPDIR: home, XDG_RUNTIME_DIR: home, ...env }
    const variables = Object.entries(all).map(([name, value]) => `${name}=${value}`)
    return new Running('env', ['-i', ...variables, resolve(this.#programs, program), ...args])
  }

  /** Runs a program until it exits. */
  async run(...how: Parameters<Installed['start']>): Promise<Ended> {
    const running = this.start(...how)
    running.child.stdin?.end()
    const status = await running.end()
    return { status, out: running.out, err: running.err }
  }

  /** Creates a folder that several programs share. */
  makeFolder(): string {
    return mkdtempSync(join(this.#folder, 's-'))
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Runs a package manager with an empty home and only the variables for the registry. */
  async #install(command: string, args: readonly string[]): Promise<void> {
    const home = join(this.#folder, 'home')
    mkdirSync(home)
    const known = Object.entries(process.env).filter(([name]) => FOR_REGISTRY.test(name))
    const env = {
      npm_config_userconfig: join(homedir(), '.npmrc'),
      ...Object.fromEntries(known),
      PATH: process.env['PATH'],
      HOME: home,
    }
    await execute(command, args, { cwd: this.#folder, env })
  }
}

function find(program: string): string {
  if (program === 'node') return process.execPath
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    if (existsSync(join(folder, program))) return join(folder, program)
  }
  throw new Error(`${program} was not found`)
}
