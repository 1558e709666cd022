import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Programs } from '../ports/programs.ts'
import { findExecutable } from './find-executable.ts'
import { runProcess } from './run-process.ts'

/** Real programs on this machine, found through the PATH of the given environment. */
export function nodePrograms(
  env: Readonly<Record<string, string | undefined>>,
  extraFolders?: readonly string[],
): Programs {
  return {
    locate: (command) =>
      findExecutable(command, { path: env['PATH'], pathExt: env['PATHEXT'], extraFolders }),
    run: runProcess,
    async sha256(path) {
      const hash = createHash('sha256')
      await pipeline(createReadStream(path), hash)
      return hash.digest('hex')
    },
  }
}
