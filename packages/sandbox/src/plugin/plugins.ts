import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { readBody } from '../server/read-body.ts'
import { answerRun, type Issuer } from './answer-run.ts'
import { writePluginFile } from './plugin-file.ts'
import type { PluginCommand, PluginOptions } from './plugin-options.ts'

const MAX_EXEC_INFOS = 1000

/** The credential plugins of a sandbox, and the private socket through which they request credentials. */
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

  /** The values of KUBERNETES_EXEC_INFO in the last 1,000 runs, oldest first. */
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
    const isAuthorized = request.headers.authorization === `Bearer ${this.#secret}`
    if (!isAuthorized || options === undefined) {
      response.writeHead(isAuthorized ? 404 : 403).end()
      return
    }
    const execInfo = parseExecInfo((await readBody(request)).toString())
    this.#runs += 1
    this.#execInfos = [...this.#execInfos, execInfo].slice(-MAX_EXEC_INFOS)
    await delay(options.delayMs ?? 0, undefined, { signal: this.#closing.signal })
    response.end(JSON.stringify(await answerRun(options, execInfo, this.#issuer)))
  }
}

/** Parses an exec info. Invalid JSON is kept as text, so that tests see what the client sent. */
function parseExecInfo(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
