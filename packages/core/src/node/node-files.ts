import { type BigIntStats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
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
