import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { readBody } from '../server/read-body.ts'
import { answerRun, type Issuer } from './answer-run.ts'
import { writePluginFile } from './plugin-file.ts'
import type { PluginCommand, PluginOptions } from './plugin-options.ts'

const EXEC_INFO_LIMIT = 1000

/** The credential plugins of a sandbox, and the private door through which they ask it. */
export class Plugins {
  readonly #folder: string
  readonly #issuer: Issuer
  readonly #secret = randomBytes(24).toString('base64url')
  readonly #plugins = new Map<string, PluginOptions>()
  readonly #closing = new AbortController()
  #server: Promise<Server> | undefined
  #runs = 0
  #execInfos: unknown[] = []

  constructor(folder: string, issuer: Issuer) {
    this.#folder = folder
    this.#issuer = issuer
  }

  get runs(): number {
    return this.#runs
  }

  /** What the plugins were given in KUBERNETES_EXEC_INFO, oldest first; the last 1,000. */
  get execInfos(): readonly unknown[] {
    return [...this.#execInfos]
  }

  resetRuns(): void {
    this.#runs = 0
    this.#execInfos = []
  }

  async create(options: PluginOptions): Promise<PluginCommand> {
    this.#server ??= this.#listen()
    await this.#server
    const id = String(this.#plugins.size + 1)
    this.#plugins.set(id, options)
    return {
      ...writePluginFile(this.#folder, id),
      env: {
        KUBECRED_SANDBOX_SOCKET: this.#socket,
        KUBECRED_SANDBOX_SECRET: this.#secret,
        KUBECRED_SANDBOX_PLUGIN: id,
      },
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    const server = await this.#server
    if (server === undefined) return
    server.close()
    server.closeAllConnections()
  }

  get #socket(): string {
    if (process.platform !== 'win32') return `${this.#folder}/control.sock`
    return `\\\\.\\pipe\\kubecred-sandbox-${this.#secret}`
  }

  async #listen(): Promise<Server> {
    const server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy())
    })
    server.listen(this.#socket)
    await once(server, 'listening')
    return server
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const options = this.#plugins.get(request.url?.replace('/run/', '') ?? '')
    const isOurs = request.headers.authorization === `Bearer ${this.#secret}`
    if (!isOurs || options === undefined) {
      response.writeHead(isOurs ? 404 : 403).end()
      return
    }
    const execInfo = parseExecInfo((await readBody(request)).toString())
    this.#runs += 1
    this.#execInfos = [...this.#execInfos, execInfo].slice(-EXEC_INFO_LIMIT)
    await delay(options.delayMs ?? 0, undefined, { signal: this.#closing.signal })
    response.end(JSON.stringify(await answerRun(options, execInfo, this.#issuer)))
  }
}

/** Keeps what is not JSON as text: seeing what a client really sent is the point. */
function parseExecInfo(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
