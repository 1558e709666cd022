import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

interface VolumeOptions {
  /** The volume's `defaultMode`. */
  readonly mode?: number
  /** The pod's `fsGroup`. */
  readonly group?: number | undefined
}

/**
 * A folder as the kubelet creates it for a projected volume or a Secret.
 *
 * Every name is a link to `..data/NAME`, and `..data` is a link to a folder. Changes are written to a new folder, and the
 * link is replaced atomically, so that readers never see a partial change.
 */
export class ProjectedVolume {
  readonly folder: string
  readonly #mode: number
  readonly #group: number | undefined
  #names: readonly string[] = []

  constructor(folder: string, { mode = 0o644, group }: VolumeOptions = {}) {
    this.folder = folder
    this.#mode = mode
    this.#group = group
    chmodSync(folder, 0o755)
  }

  /** Replaces all files. */
  write(files: Readonly<Record<string, string>>): this {
    const now = mkdtempSync(join(this.folder, '..2026_'))
    chmodSync(now, 0o755)
    for (const [name, content] of Object.entries(files)) {
      const path = join(now, name)
      writeFileSync(path, content)
      chmodSync(path, this.#mode)
      if (this.#group !== undefined) chownSync(path, 0, this.#group)
    }
    const data = join(this.folder, '..data')
    const before = this.#names.length === 0 ? undefined : readlinkSync(data)
    symlinkSync(now.slice(this.folder.length + 1), `${data}_tmp`)
    renameSync(`${data}_tmp`, data)
    for (const name of Object.keys(files)) {
      if (!this.#names.includes(name)) symlinkSync(`..data/${name}`, join(this.folder, name))
    }
    this.#names = Object.keys(files)
    if (before !== undefined) rmSync(join(this.folder, before), { recursive: true })
    return this
  }
}
