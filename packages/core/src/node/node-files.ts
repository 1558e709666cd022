import { type BigIntStats, type Stats, statSync } from 'node:fs'
import { constants, type FileHandle, open, stat } from 'node:fs/promises'
import { devNull } from 'node:os'
import type { Files } from '../ports/files.ts'

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
    // At once: `fs.watchFile` takes its first look later, and a change before that look goes unnoticed.
    let seen = firstLook(path)
    let isLooking = false
    const look = async (): Promise<void> => {
      if (isLooking) return
      isLooking = true
      const found = fingerprint(await stat(path, { bigint: true }).catch(() => undefined))
      isLooking = false
      if (found === seen || isStopped) return
      seen = found
      onChange()
    }
    let isStopped = false
    // A watched file must not keep the process alive.
    const timer = setInterval(() => void look(), LOOK_MS).unref()
    return () => {
      isStopped = true
      clearInterval(timer)
    }
  },
}

function firstLook(path: string): string {
  try {
    return fingerprint(statSync(path, { bigint: true }))
  } catch {
    return fingerprint(undefined)
  }
}

/** Changes when a file is written, replaced or removed. */
function fingerprint(stats: BigIntStats | undefined): string {
  if (stats === undefined) return 'absent'
  const { dev, ino, size, mtimeNs, ctimeNs } = stats
  return [dev, ino, size, mtimeNs, ctimeNs].join()
}

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
