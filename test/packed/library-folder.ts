import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { tarball } from './installed.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

/** The used parts of our manifest. */
export interface Manifest {
  readonly exports: Readonly<Record<string, string | { types: string; default: string }>>
  readonly dependencies: Readonly<Record<string, string>>
}

/** The output and the exit status of a program. */
export interface Ended {
  readonly code: number
  readonly output: string
}

/**
 * A folder with the package as npm would install it, and only its own dependencies.
 *
 * The dependencies come from the workspace, without a registry.
 */
export class LibraryFolder implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'kubecred-packed-'))
  readonly package = join(this.folder, 'node_modules/kubecred')

  static async make(): Promise<LibraryFolder> {
    const made = new LibraryFolder()
    const { folder } = made
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    mkdirSync(made.package, { recursive: true })
    await run('tar', ['-xzf', tarball('kubecred'), '--strip-components=1', '-C', made.package])
    for (const name of Object.keys(made.manifest.dependencies)) made.link(name)
    return made
  }

  get manifest(): Manifest {
    return JSON.parse(readFileSync(join(this.package, 'package.json'), 'utf8')) as Manifest
  }

  /** The names to import: `kubecred`, `kubecred/errors` and so on. Not `kubecred/register`, which changes the process. */
  get subpaths(): string[] {
    return Object.keys(this.manifest.exports)
      .filter((name) => name !== './package.json' && name !== './register')
      .map((name) => `kubecred${name.slice(1)}`)
  }

  /** Adds a package from the workspace. */
  link(name: string): void {
    const path = join(this.folder, 'node_modules', name)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), path, 'junction')
  }

  unlink(name: string): void {
    rmSync(join(this.folder, 'node_modules', name))
  }

  write(name: string, content: string): void {
    writeFileSync(join(this.folder, name), content)
  }

  /** Runs a module in the folder, without a kubeconfig or settings. */
  node(source: string): Promise<Ended> {
    return this.#run(['--input-type=module', '--eval', source])
  }

  /** Runs a program with `kubecred/register` in the folder, without a kubeconfig. */
  register(source: string): Promise<Ended> {
    return this.#run(['--import', 'kubecred/register', '--eval', source])
  }

  /** Runs the workspace's TypeScript on the project in the folder. */
  tsc(): Promise<Ended> {
    return this.#run([join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'])
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #run(args: string[]): Promise<Ended> {
    const env = { PATH: process.env['PATH'], HOME: this.folder }
    try {
      const { stdout } = await run(process.execPath, args, { cwd: this.folder, env })
      return { code: 0, output: stdout }
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { code, output: stdout + stderr }
    }
  }
}
