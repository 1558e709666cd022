import type { Cluster } from '../packages/core/src/index.ts'

/** The watches of a case, which stay open while credentials change. */
export class Watches {
  readonly #open: ReadableStreamDefaultReader<Uint8Array>[] = []

  /** Opens a watch, waits for the first event, and returns the status. */
  async open(cluster: Cluster): Promise<number> {
    const { status, body } = await cluster.fetch('/api/v1/namespaces?watch=true')
    if (status !== 200 || body === null) {
      await body?.cancel()
      return status
    }
    const reader = body.getReader()
    await reader.read()
    this.#open.push(reader)
    return status
  }

  /** Waits until each watch has received an object with this name. */
  async see(name: string): Promise<void> {
    for (const reader of this.#open) {
      for (let text = ''; !text.includes(name); ) {
        const { value, done } = await reader.read()
        if (done) throw new Error(`a watch ended before it received ${name}`)
        text += new TextDecoder().decode(value)
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((reader) => reader.cancel()))
  }
}
