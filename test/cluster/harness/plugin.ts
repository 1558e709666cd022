import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { KubeconfigExec } from '@kubecred/sandbox'

/** The credential that a plugin prints; see ExecCredential of client.authentication.k8s.io. */
interface Status {
  readonly token?: string
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
  readonly expirationTimestamp?: string
}

const ANEW_MS = 300

const SCRIPT = `#!/bin/sh
cd "\${0%/*}" || exit 1
echo run >> runs
next=answer-$(wc -l < runs | tr -d ' ')
[ -e "$next" ] || next=answer
cat "$next"
`

/** A credential plugin that prints a configured answer and counts its runs. It is a shell script, which starts fast. */
export class Plugin {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
    const path = join(folder, 'plugin')
    writeFileSync(path, SCRIPT)
    chmodSync(path, 0o755)
  }

  get exec(): KubeconfigExec {
    return { command: join(this.#folder, 'plugin'), interactiveMode: 'Never' }
  }

  /** Sets the answer of all later runs. */
  answer(status: Status): this {
    return this.#write('answer', status)
  }

  /** Sets the answer of one run, counted from 1. */
  answerOnce(run: number, status: Status): this {
    return this.#write(`answer-${run}`, status)
  }

  /** Renews the answer several times per second, for short-lived credentials. Returns a function that stops it. */
  answerAnew(make: () => Status | Promise<Status>): Disposable {
    const over = new AbortController()
    const work = async (): Promise<void> => {
      // Sequentially: on a busy machine an older answer must not be written last.
      while (!over.signal.aborted) {
        this.answer(await make())
        await pause(ANEW_MS, undefined, { signal: over.signal }).catch(() => {})
      }
    }
    void work()
    return { [Symbol.dispose]: () => over.abort() }
  }

  /** Makes all later runs fail, until an answer is set again. */
  fail(): this {
    rmSync(join(this.#folder, 'answer'), { force: true })
    return this
  }

  get runs(): number {
    const path = join(this.#folder, 'runs')
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n').length : 0
  }

  #write(name: string, status: Status): this {
    const object = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }
    const path = join(this.#folder, name)
    // Renamed atomically, because a run may be reading the file.
    writeFileSync(`${path}.new`, JSON.stringify(object))
    renameSync(`${path}.new`, path)
    return this
  }
}
