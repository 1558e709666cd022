import type { Readable } from 'node:stream'
import type { Sandbox } from '@kubecred/sandbox'
import { expect } from 'vitest'
import { asAdmin, seen } from './admin.ts'
import type { Got, Sent } from './driver.ts'
import { until } from './until.ts'

const PATH = '/api/v1/namespaces/default/configmaps'

/** A long response that stays open while other things change. */
export interface Stream {
  /** The request as the server sees it. */
  readonly record: Sandbox['requests'][number]
  /** Causes an event on the server, and waits until the client gets it. */
  expectEvent(): Promise<void>
  /** Aborts, and waits until the server has noticed. */
  end(): Promise<void>
  /** Waits until the response has ended or failed. */
  expectCut(): Promise<void>
}

/** A watch of the client under test. */
export class Watch implements Stream {
  readonly #leave: AbortController
  readonly #sandbox: Sandbox
  #made = 0
  #text = ''
  #isCut = false

  private constructor(body: Readable, sandbox: Sandbox, leave: AbortController) {
    this.#sandbox = sandbox
    this.#leave = leave
    body.setEncoding('utf8').on('data', (chunk: string) => {
      this.#text += chunk
    })
    // Any of them: node-fetch 2 emits an error without closing the stream.
    const cut = (): void => {
      this.#isCut = true
    }
    body.once('end', cut).once('close', cut).on('error', cut)
  }

  /** Starts to watch config maps. */
  static async open(send: (request: Sent) => Promise<Got>, sandbox: Sandbox): Promise<Watch> {
    const leave = new AbortController()
    const got = await send({ path: `${PATH}?watch=true`, signal: leave.signal })
    expect(got.status).toBe(200)
    return new Watch(got.body, sandbox, leave)
  }

  get record(): Sandbox['requests'][number] {
    const isOurs = (record: Sandbox['requests'][number]): boolean =>
      record.path.includes('watch=true') && record.status === 200
    const record = seen(this.#sandbox).findLast(isOurs)
    if (record === undefined) throw new Error('the server has not seen the watch')
    return record
  }

  async expectEvent(): Promise<void> {
    this.#made += 1
    const name = `made-${this.#made}`
    const made = await asAdmin(this.#sandbox, 'POST', PATH, { metadata: { name } })
    expect(made.status).toBe(201)
    await until(() => this.#hasEvent(name) || this.#isCut)
    expect(this.#hasEvent(name), 'the watch continues').toBe(true)
  }

  async end(): Promise<void> {
    this.#leave.abort()
    await until(() => this.record.hasEnded)
  }

  async expectCut(): Promise<void> {
    await until(() => this.#isCut)
  }

  #hasEvent(name: string): boolean {
    return this.#text
      .split('\n')
      .slice(0, -1)
      .some((line) => line.startsWith('{"type":"ADDED"') && line.includes(`"name":"${name}"`))
  }
}
