import type { Files } from '../ports/files.ts'
import { readBoundedFile } from './read-bounded-file.ts'

/** Larger than any token, certificate chain or CA bundle. */
const MOST_BYTES = 8 * 1024 * 1024

/** The real files: regular ones only, of limited size, as UTF-8 text. */
export const nodeFiles: Files = {
  async read(path) {
    return new TextDecoder().decode(await readBoundedFile(path, { mostBytes: MOST_BYTES }))
  },
}
