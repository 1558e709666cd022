import { readFileSync } from 'node:fs'
import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Home } from '../run/home.ts'
import type { Running } from '../spawn-program.ts'

/** The output of `kubecred proxy -o json`. */
interface Said {
  readonly url: string
  readonly port: number
  readonly unixSocket?: string
  readonly headerFile?: string
  readonly page?: string
  readonly metrics?: string
  readonly healthPort?: number
}

/** A `kubecred proxy` process. */
export class Served {
  readonly running: Running
  readonly said: Said

  private constructor(running: Running, said: Said) {
    this.running = running
    this.said = said
  }

  static async start(home: Home, args: readonly string[]): Promise<Served> {
    return Served.of(home.start(['proxy', '-o', 'json', ...args]))
  }

  /** Wraps a process that was started with `-o json`. */
  static async of(running: Running): Promise<Served> {
    const [line] = await running.until('out', /^.*\n/)
    return new Served(running, JSON.parse(line))
  }

  /** The header with the secret. */
  get secret(): Record<string, string> {
    const [name = '', value = ''] = readFileSync(this.said.headerFile ?? '', 'utf8').split(': ')
    return { [name]: value.trim() }
  }

  /** Sends a request with the secret, and returns the status. */
  async status(path: string, options: RequestOptions = {}): Promise<number | undefined> {
    const response = await this.open(path, options)
    await text(response)
    return response.statusCode
  }

  /** Sends a request with the secret. */
  open(path: string, { headers, ...options }: RequestOptions = {}): Promise<IncomingMessage> {
    const { port, unixSocket, headerFile } = this.said
    const where =
      unixSocket === undefined ? { port, host: '127.0.0.1' } : { socketPath: unixSocket }
    const secret = headerFile === undefined ? {} : this.secret
    return new Promise((resolve, reject) => {
      const all = { ...where, path, agent: false, headers: { ...secret, ...headers }, ...options }
      request(all, resolve).on('error', reject).end()
    })
  }

  /** Sends a signal, and returns the exit status. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.running.child.kill(signal)
    return this.running.end()
  }
}
