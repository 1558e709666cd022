import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM } from '../spawn-signer.ts'

/** `kubecred-pkcs11` behind a program that logs the kind of every request. */
export class LoggedSigner {
  readonly program: string
  readonly #log: string

  constructor(folder: string) {
    this.program = join(folder, 'logged-signer.mjs')
    this.#log = join(folder, 'requests')
    const names = `const [PROGRAM, LOG] = ${JSON.stringify([PROGRAM, this.#log])}`
    writeFileSync(this.program, `#!${process.execPath}\n${names}\n${CODE}`)
    chmodSync(this.program, 0o755)
  }

  /** Returns the kinds of the requests so far, and clears the log. */
  asked(): string[] {
    const text = existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : ''
    rmSync(this.#log, { force: true })
    return text.split('\n').filter((line) => line !== '')
  }
}

const CODE = `
import { spawn } from 'node:child_process'
import { appendFileSync, createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

const log = (request) => appendFileSync(LOG, JSON.parse(request).kind + '\\n')
log(process.env.EXTERNAL_SIGNER_PLUGIN_CONFIG)
const signer = spawn(process.execPath, [PROGRAM], { stdio: ['inherit', 'inherit', 'inherit', 'pipe'] })
signer.on('exit', (status) => process.exit(status ?? 1))
const lines = createInterface({ input: createReadStream('', { fd: 3 }) })
signer.stdio[3].on('error', () => {})
lines.on('line', (line) => {
  log(line)
  signer.stdio[3].write(line + '\\n')
})
lines.on('close', () => signer.stdio[3].end())
`
