import { ClientGo } from './program.ts'
import type { Client, Opening, Sending } from './script.ts'

const NAMESPACES = '/api/v1/namespaces'
const WAIT_MS = 5000

/** client-go as one of the two, through the program of conformance/client-go. */
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
    // A process has one environment, and a script opens with the same one each time.
    this.#program ??= new ClientGo(this.#path, {
      HOME: this.#home,
      PATH: process.env['PATH'],
      ...env,
    })
    const { error } = await this.#program.tell({ do: 'open', ...opening })
    if (error === undefined) return undefined
    this.trouble.push(error)
    return 'refused'
  }

  async send({ path = NAMESPACES, ...sending }: Sending): Promise<readonly (number | 'error')[]> {
    const { results = [] } = await this.#tell({ do: 'send', path, ...sending })
    this.trouble.push(...results.flatMap(({ error }) => error ?? []))
    return results.map(({ status }) => status ?? 'error')
  }

  async watch(path: string): Promise<number | 'error'> {
    const { results = [] } = await this.#tell({ do: 'watch', path })
    return results[0]?.status ?? 'error'
  }

  async see(name: string): Promise<boolean> {
    return (await this.#tell({ do: 'see', name, waitMs: WAIT_MS })).seen ?? false
  }

  async inform(): Promise<boolean> {
    return (await this.#tell({ do: 'inform', waitMs: WAIT_MS })).seen ?? false
  }

  async informed(name: string): Promise<boolean> {
    return (await this.#tell({ do: 'informed', name, waitMs: 3 * WAIT_MS })).seen ?? false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program?.[Symbol.asyncDispose]()
  }

  async #tell(order: Parameters<ClientGo['tell']>[0]) {
    if (this.#program === undefined) throw new Error('nothing was opened')
    const answer = await this.#program.tell(order)
    if (answer.error !== undefined) throw new Error(answer.error)
    return answer
  }
}
