import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { KubeconfigExec } from '@kubecred/sandbox'

/** What a plugin hands out; see the ExecCredential of client.authentication.k8s.io. */
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

/** A credential plugin that answers what it was told, and counts its runs. A shell is there in a millisecond. */
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

  /** From now on; every run the same. */
  answer(status: Status): this {
    return this.#write('answer', status)
  }

  /** In the run with this number alone, counted from 1. */
  answerOnce(run: number, status: Status): this {
    return this.#write(`answer-${run}`, status)
  }

  /** Something new several times a second, for credentials that do not live long. Returns what ends it. */
  answerAnew(make: () => Status | Promise<Status>): Disposable {
    const over = new AbortController()
    const work = async (): Promise<void> => {
      // One after the other: a busy machine must not pile them up and hand out an old one last.
      while (!over.signal.aborted) {
        this.answer(await make())
        await pause(ANEW_MS, undefined, { signal: over.signal }).catch(() => {})
      }
    }
    void work()
    return { [Symbol.dispose]: () => over.abort() }
  }

  /** From now on, until it has an answer again. */
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
    // A run may read it at this moment.
    writeFileSync(`${path}.new`, JSON.stringify(object))
    renameSync(`${path}.new`, path)
    return this
  }
}
