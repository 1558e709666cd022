import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('corpus', import.meta.url))

/** Reads the corpus of a target: every file of its folder, in the order of their names. */
export function readCorpus(name: string): Buffer[] {
  const folder = join(FOLDER, name)
  return readdirSync(folder)
    .sort()
    .map((file) => readFileSync(join(folder, file)))
}

/** Reads a corpus of HTTP messages, which have CRLF; git stores the files with LF. */
export function readHttpCorpus(name: string): Buffer[] {
  return readCorpus(name).map((bytes) =>
    Buffer.from(
      bytes.toString('latin1').trimEnd().replaceAll('\n', '\r\n').concat('\r\n\r\n'),
      'latin1',
    ),
  )
}
