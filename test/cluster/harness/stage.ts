import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Watchdog } from './watchdog.ts'

/** The path of each program. */
export type Programs = Readonly<Record<'etcd' | 'kube-apiserver' | 'kubectl' | 'kwok', string>>

/** What the programs of one cluster share. */
export interface Stage {
  readonly programs: Programs
  /** A private folder, removed with the cluster. */
  readonly folder: string
  readonly watchdog: Watchdog
  /** Writes a file with mode 0600, and returns its path. */
  write(name: string, content: string): string
}

/** The names of a server on the loopback interface. */
export const LOOPBACK = [
  { type: 'ip', value: '127.0.0.1' },
  { type: 'dns', value: 'localhost' },
] as const

/** A folder in memory if the system has one: etcd writes much, and nothing of it is kept. */
export function makeStage(programs: Programs): Stage {
  const above = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  const folder = mkdtempSync(join(above, 'kubecred-cluster-'))
  return {
    programs,
    folder,
    watchdog: new Watchdog(folder),
    write(name, content) {
      const path = join(folder, name)
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, content, { mode: 0o600 })
      return path
    },
  }
}
