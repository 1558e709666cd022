import type { Stats } from 'node:fs'
import { constants, type FileHandle, open, stat } from 'node:fs/promises'
import { devNull } from 'node:os'

/** What may be read, beside regular files. */
export interface ReadRules {
  readonly mostBytes: number
  /** Whether `/dev/stdin` and `/dev/fd/N` (a shell's `<(…)`) may be read to their end. */
  readonly pipes?: 'allowed' | 'refused'
}

/**
 * Reads a whole file of limited size; never waits on a named pipe that nobody writes to.
 *
 * @throws An error with a `code` as Node has them: `ENOENT`, `EACCES`, `EISDIR`, …; `EFBIG` for more than
 *   `mostBytes`, `ENOTSUP` for what is not a regular file.
 */
export async function readBoundedFile(path: string, rules: ReadRules): Promise<Uint8Array> {
  const isPipe = rules.pipes === 'allowed' && /^\/dev\/(?:stdin|fd\/\d+)$/.test(path)
  // Without O_NONBLOCK, opening a named pipe waits for its writer, maybe for ever.
  const file = await open(path, constants.O_RDONLY | (isPipe ? 0 : (constants.O_NONBLOCK ?? 0)))
  try {
    if (!isPipe) await refuseSpecialFile(file, path)
    return await readUpTo(file, path, rules.mostBytes)
  } finally {
    await file.close()
  }
}

async function refuseSpecialFile(file: FileHandle, path: string): Promise<void> {
  const facts = await file.stat()
  if (facts.isDirectory()) throw codedError('EISDIR', `${path} is a directory`)
  if (!facts.isFile() && !(await isNull(facts)))
    throw codedError('ENOTSUP', `${path} is not a regular file`)
}

/** `KUBECONFIG=/dev/null` is how people say "none". */
async function isNull(facts: Stats): Promise<boolean> {
  return facts.isCharacterDevice() && facts.rdev === (await stat(devNull)).rdev
}

async function readUpTo(file: FileHandle, path: string, mostBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let total = 0
  for (;;) {
    const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES, null)
    if (bytesRead === 0) return Buffer.concat(chunks)
    chunks.push(buffer.subarray(0, bytesRead))
    total += bytesRead
    if (total > mostBytes) throw codedError('EFBIG', `${path} has more than ${mostBytes} bytes`)
  }
}

const CHUNK_BYTES = 64 * 1024

function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
