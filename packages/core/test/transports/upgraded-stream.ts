import type { Sandbox } from '@kubecred/sandbox'
import { expect } from 'vitest'
import { seen } from './admin.ts'
import type { Upgraded } from './driver.ts'
import type { Stream } from './watch.ts'

/** An upgraded connection, for transports without watches. */
export class UpgradedStream implements Stream {
  readonly record: Sandbox['requests'][number]
  readonly #connection: Upgraded

  /** It has just been opened. */
  constructor(connection: Upgraded, sandbox: Sandbox) {
    const record = seen(sandbox).findLast(({ path }) => path.includes('/exec'))
    if (record?.status !== 101) throw new Error('the server has not seen the upgrade')
    this.record = record
    this.#connection = connection
  }

  async expectEvent(): Promise<void> {
    expect(await this.#connection.echo('hello')).toBe('hello')
  }

  async end(): Promise<void> {
    await this.#connection.close()
  }

  async expectCut(): Promise<void> {
    await expect(this.#connection.echo('hello')).rejects.toThrow()
  }
}
