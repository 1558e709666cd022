import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Watchdog } from './watchdog.ts'

/** Where each program is. */
export type Programs = Readonly<Record<'etcd' | 'kube-apiserver' | 'kubectl' | 'kwok', string>>

/** What every program of one cluster shares. */
export interface Stage {
  readonly programs: Programs
  /** Private; gone with the cluster. */
  readonly folder: string
  readonly watchdog: Watchdog
  /** Writes a file that only we can read, and gives its path. */
  write(name: string, content: string): string
}

/** The names of a server that only this machine reaches. */
export const LOOPBACK = [
  { type: 'ip', value: '127.0.0.1' },
  { type: 'dns', value: 'localhost' },
] as const

/** In memory where the system has a place for it: etcd writes much, and nothing of it is kept. */
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
