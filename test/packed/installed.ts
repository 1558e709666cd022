import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { Running } from '../../packages/cli/test/spawn-program.ts'

const execute = promisify(execFile)
const PNPM = fileURLToPath(new URL('../../node_modules/pnpm/bin/pnpm.cjs', import.meta.url))
/** What the programs find on their PATH: all but the first two are for the shell scripts that pnpm writes. */
const FOUND_ON_PATH = ['node', 'sh', 'sed', 'dirname', 'uname']
/** Variables that say how a registry is reached. */
const FOR_REGISTRY = /^(?:npm_config_.*|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_.*)$/i

/** The path of one packed package. */
export function tarball(name: string): string {
  const path = inject('tarballs')[name]
  if (path === undefined) throw new Error(`${name} is not packed: add it to tools/pack.mjs`)
  return path
}

/** How a program ended, and what it wrote. */
export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

/** The programs as a user has installed them, in a folder of their own. */
export class Installed implements Disposable {
  // A short name: the paths of sockets are limited.
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

  /** Installs the programs so that a package finds nothing but the dependencies it declares. */
  static async withPnpm(): Promise<Installed> {
    const made = new Installed()
    const names = ['@kubecred/cli', '@kubecred/demo', '@kubecred/pkcs11']
    const dependencies = Object.fromEntries(names.map((name) => [name, `file:${tarball(name)}`]))
    // Our own packages come from the same place where another package depends on them.
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

  private constructor() {
    mkdirSync(this.#path)
    for (const name of FOUND_ON_PATH) symlinkSync(find(name), join(this.#path, name))
  }

  /** Starts a program with a home of its own, which is empty, and nothing else in its environment. */
  start(
    program: string,
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Running {
    const home = mkdtempSync(join(this.#folder, 'h-'))
    const all = { PATH: this.#path, HOME: home, TMPDIR: home, XDG_RUNTIME_DIR: home, ...env }
    const variables = Object.entries(all).map(([name, value]) => `${name}=${value}`)
    return new Running('env', ['-i', ...variables, join(this.#programs, program), ...args])
  }

  /** Runs a program to its end. */
  async run(...how: Parameters<Installed['start']>): Promise<Ended> {
    const running = this.start(...how)
    running.child.stdin?.end()
    const status = await running.end()
    return { status, out: running.out, err: running.err }
  }

  /** A new folder, for what several programs share. */
  makeFolder(): string {
    return mkdtempSync(join(this.#folder, 's-'))
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** With an empty home: only how the registry is reached is known from outside. */
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
