import { type BigIntStats, type Stats, statSync } from 'node:fs'
import { constants, type FileHandle, open, stat } from 'node:fs/promises'
import { devNull } from 'node:os'
import type { Files } from '../ports/files.ts'

/** Larger than any token, certificate chain or CA bundle. */
const MAX_BYTES = 8 * 1024 * 1024

/**
 * How often a watched file is polled. Polling works where notifications do not: if a symbolic link is swapped, as
 * Kubernetes does with mounted tokens, and on network file systems.
 */
const POLL_INTERVAL_MS = 1000

/** The files port: reads regular files of limited size as UTF-8, and watches files. */
export const nodeFiles: Files = {
  async read(path) {
    return new TextDecoder().decode(await readBoundedFile(path, { maxBytes: MAX_BYTES }))
  },
  watch(path, onChange) {
    // Synchronous: `fs.watchFile` does its first stat later, and would miss a change before it.
    let seen = initialFingerprint(path)
    let isPolling = false
    const poll = async (): Promise<void> => {
      if (isPolling) return
      isPolling = true
      const found = fingerprint(await stat(path, { bigint: true }).catch(() => undefined))
      isPolling = false
      if (found === seen || isStopped) return
      seen = found
      onChange()
    }
    let isStopped = false
    // A watched file must not keep the process alive.
    const timer = setInterval(() => void poll(), POLL_INTERVAL_MS).unref()
    return () => {
      isStopped = true
      clearInterval(timer)
    }
  },
}

function initialFingerprint(path: string): string {
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

/** Limits for reading a file. */
export interface ReadLimits {
  readonly maxBytes: number
  /** Whether `/dev/stdin` and `/dev/fd/N` (a shell's `<(…)`) may be read; refused by default. */
  readonly pipes?: 'allowed' | 'refused'
}

/**
 * Reads a whole file of limited size. Never blocks on a named pipe without a writer.
 *
 * @throws {Error} With a `code` of Node: `ENOENT`, `EACCES`, `EISDIR`, …; `EFBIG` for more than
 *   `maxBytes`, `ENOTSUP` if it is not a regular file.
 */
export async function readBoundedFile(path: string, limits: ReadLimits): Promise<Uint8Array> {
  const isPipe = limits.pipes === 'allowed' && /^\/dev\/(?:stdin|fd\/\d+)$/.test(path)
  // Without O_NONBLOCK, opening a named pipe blocks until a writer opens it.
  const file = await open(path, constants.O_RDONLY | (isPipe ? 0 : (constants.O_NONBLOCK ?? 0)))
  try {
    if (!isPipe) await rejectSpecialFile(file, path)
    return await readUpTo(file, path, limits.maxBytes)
  } finally {
    await file.close()
  }
}

async function rejectSpecialFile(file: FileHandle, path: string): Promise<void> {
  const facts = await file.stat()
  if (facts.isDirectory()) throw codedError('EISDIR', `${path} is a directory`)
  if (!facts.isFile() && !(await isDevNull(facts)))
    throw codedError('ENOTSUP', `${path} is not a regular file`)
}

/** Whether it is /dev/null: `KUBECONFIG=/dev/null` is a common way to use no kubeconfig. */
async function isDevNull(facts: Stats): Promise<boolean> {
  return facts.isCharacterDevice() && facts.rdev === (await stat(devNull)).rdev
}

async function readUpTo(file: FileHandle, path: string, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let total = 0
  for (;;) {
    const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES, null)
    if (bytesRead === 0) return Buffer.concat(chunks)
    chunks.push(buffer.subarray(0, bytesRead))
    total += bytesRead
    if (total > maxBytes) throw codedError('EFBIG', `${path} has more than ${maxBytes} bytes`)
  }
}

const CHUNK_BYTES = 64 * 1024

function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
