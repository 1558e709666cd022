import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const SOURCE = fileURLToPath(new URL('../../client-go/', import.meta.url))

/** An order of conformance/client-go/main.go. */
export type Order = Readonly<Record<string, unknown>> & { readonly do: string }

/** An answer of conformance/client-go/main.go. */
export interface Answer {
  readonly results?: readonly { readonly status?: number; readonly error?: string }[]
  readonly seen?: boolean
  readonly error?: string
}

const { cacheFolder }: { cacheFolder(): string } = await import(
  new URL('../../../tools/cluster/folders.mjs', import.meta.url).href
)

/** Whether the program is built, or can be built with Go. */
export function hasClientGo(): boolean {
  return existsSync(builtPath()) || spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0
}

/** Builds the program once for each version of its sources, outside of the tree and atomically. */
export function buildClientGo(): string {
  const path = builtPath()
  if (existsSync(path)) return path
  mkdirSync(cacheFolder(), { recursive: true })
  const work = mkdtempSync(join(cacheFolder(), '.building-client-go-'))
  try {
    // The same flags as for the other programs, so that common packages are compiled once.
    const { status, stderr } = spawnSync(
      'go',
      ['build', '-trimpath', '-ldflags', '-s -w', '-o', join(work, 'client-go'), '.'],
      { cwd: SOURCE, env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' }, encoding: 'utf8' },
    )
    if (status !== 0) throw new Error(`go could not build conformance/client-go: ${stderr}`)
    mkdirSync(join(path, '..'), { recursive: true })
    renameSync(join(work, 'client-go'), path)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return path
}

function builtPath(): string {
  const digest = createHash('sha256')
  for (const name of readdirSync(SOURCE).sort()) digest.update(readFileSync(join(SOURCE, name)))
  const version = digest.digest('hex').slice(0, 12)
  return join(
    cacheFolder(),
    `client-go-${version}-${process.platform}-${process.arch}`,
    'client-go',
  )
}

/** The running program, which answers each order. */
export class ClientGo implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #answers: AsyncIterator<string>
  #errors = ''

  constructor(path: string, env: Readonly<Record<string, string | undefined>>) {
    const child = spawn(path, [], { env, stdio: 'pipe' })
    this.#child = child
    this.#answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text
    })
  }

  async send(order: Order): Promise<Answer> {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`)
    const { value, done } = await this.#answers.next()
    if (done) throw new Error(`client-go ended: ${this.#errors}`)
    return JSON.parse(value) as Answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.stdin?.end()
    await ended
  }
}
