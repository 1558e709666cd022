import { ClientGo } from './program.ts'
import type { Client, Opening, Sending } from './script.ts'

const NAMESPACES = '/api/v1/namespaces'
const WAIT_MS = 5000

/** client-go as a compared client, through the program of conformance/client-go. */
export class ClientGoClient implements Client {
  readonly #path: string
  readonly #home: string
  readonly trouble: string[] = []
  #program: ClientGo | undefined

  constructor(path: string, home: string) {
    this.#path = path
    this.#home = home
  }

  async open({ env, ...opening }: Opening): Promise<'refused' | undefined> {
    // Started once: all clients of a script have the same environment.
    this.#program ??= new ClientGo(this.#path, {
      HOME: this.#home,
      PATH: process.env['PATH'],
      ...env,
    })
    const { error } = await this.#program.send({ do: 'open', ...opening })
    if (error === undefined) return undefined
    this.trouble.push(error)
    return 'refused'
  }

  async send({ path = NAMESPACES, ...sending }: Sending): Promise<readonly (number | 'error')[]> {
    const { results = [] } = await this.#send({ do: 'send', path, ...sending })
    this.trouble.push(...results.flatMap(({ error }) => error ?? []))
    return results.map(({ status }) => status ?? 'error')
  }

  async watch(path: string): Promise<number | 'error'> {
    const { results = [] } = await this.#send({ do: 'watch', path })
    return results[0]?.status ?? 'error'
  }

  async see(name: string): Promise<boolean> {
    return (await this.#send({ do: 'see', name, waitMs: WAIT_MS })).seen ?? false
  }

  async inform(): Promise<boolean> {
    return (await this.#send({ do: 'inform', waitMs: WAIT_MS })).seen ?? false
  }

  async informed(name: string): Promise<boolean> {
    return (await this.#send({ do: 'informed', name, waitMs: 3 * WAIT_MS })).seen ?? false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program?.[Symbol.asyncDispose]()
  }

  async #send(order: Parameters<ClientGo['send']>[0]) {
    if (this.#program === undefined) throw new Error('nothing was opened')
    const answer = await this.#program.send(order)
    if (answer.error !== undefined) throw new Error(answer.error)
    return answer
  }
}
