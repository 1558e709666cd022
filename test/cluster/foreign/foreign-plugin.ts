import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The value of KUBERNETES_EXEC_INFO in a run. */
interface ExecInfo {
  readonly apiVersion: string
  readonly spec: { readonly interactive: boolean; readonly cluster?: { readonly server: string } }
}

/** An unmodified third-party plugin, behind a script that records its runs and then execs it. */
export class ForeignPlugin {
  /** The folder of the script, for PATH. */
  readonly bin: string
  readonly command: string
  readonly #notes: string

  /** @param name The command name. */
  constructor(folder: string, name: string, program: string) {
    this.bin = join(folder, 'bin')
    this.command = join(this.bin, name)
    this.#notes = join(folder, 'runs')
    mkdirSync(this.bin)
    const note = `printf '%s\\n' "$KUBERNETES_EXEC_INFO" >> '${this.#notes}'`
    writeFileSync(this.command, `#!/bin/sh\n${note}\nexec '${program}' "$@"\n`)
    chmodSync(this.command, 0o755)
  }

  /** The exec info of each run, oldest first. */
  get execInfos(): readonly ExecInfo[] {
    if (!existsSync(this.#notes)) return []
    const lines = readFileSync(this.#notes, 'utf8').trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as ExecInfo)
  }

  get runs(): number {
    return this.execInfos.length
  }
}
