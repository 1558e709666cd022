import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a plugin found in KUBERNETES_EXEC_INFO. */
interface ExecInfo {
  readonly apiVersion: string
  readonly spec: { readonly interactive: boolean; readonly cluster?: { readonly server: string } }
}

/** A plugin nobody here wrote, unchanged, behind a script that notes its runs and becomes it. */
export class ForeignPlugin {
  /** Its folder, for PATH. */
  readonly bin: string
  readonly command: string
  readonly #notes: string

  /** @param name What people call it by. */
  constructor(folder: string, name: string, program: string) {
    this.bin = join(folder, 'bin')
    this.command = join(this.bin, name)
    this.#notes = join(folder, 'runs')
    mkdirSync(this.bin)
    const note = `printf '%s\\n' "$KUBERNETES_EXEC_INFO" >> '${this.#notes}'`
    writeFileSync(this.command, `#!/bin/sh\n${note}\nexec '${program}' "$@"\n`)
    chmodSync(this.command, 0o755)
  }

  /** What each run was told, the first run first. */
  get told(): readonly ExecInfo[] {
    if (!existsSync(this.#notes)) return []
    const lines = readFileSync(this.#notes, 'utf8').trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as ExecInfo)
  }

  get runs(): number {
    return this.told.length
  }
}
