import { unwatchFile, watchFile } from 'node:fs'
import type { Files } from '../ports/files.ts'
import { readBoundedFile } from './read-bounded-file.ts'

/** Larger than any token, certificate chain or CA bundle. */
const MOST_BYTES = 8 * 1024 * 1024

/**
 * How often a watched file is looked at. Looking works where notifications do not: through symbolic
 * links that are swapped (as Kubernetes does with mounted tokens) and on network file systems.
 */
const LOOK_MS = 1000

/** The real files: regular ones only, of limited size, as UTF-8 text. */
export const nodeFiles: Files = {
  async read(path) {
    return new TextDecoder().decode(await readBoundedFile(path, { mostBytes: MOST_BYTES }))
  },
  watch(path, onChange) {
    const listener = (): void => onChange()
    // Not persistent: a watched file must not keep the process alive.
    watchFile(path, { interval: LOOK_MS, persistent: false }, listener)
    return () => unwatchFile(path, listener)
  },
}
