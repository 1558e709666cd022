import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { PipeEnd } from '../../src/bridge/memory-pipe.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('data written at one end', () => {
  it('arrives at the other completely and in order', async () => {
    const [one, other] = PipeEnd.pair()
    one.cork()
    for (let index = 0; index < 1000; index += 1) one.write(`${index},`)
    one.uncork()
    one.end(Buffer.alloc(200_000, 'x'))
    let text = ''
    for await (const chunk of other) text += String(chunk)
    const numbers = Array.from({ length: 1000 }, (_, index) => `${index},`).join('')
    expect(text).toBe(numbers + 'x'.repeat(200_000))
  })

  it('arrives in a later tick, so that an exception of the reader does not reach the writer', async () => {
    const [one, other] = PipeEnd.pair()
    let isWritten = false
    const seen = new Promise<boolean>((resolve) => other.once('data', () => resolve(isWritten)))
    one.write('x')
    isWritten = true
    expect(await seen).toBe(true)
  })

  it('waits for the reader: a slow reader pauses the writer', async () => {
    const [one, other] = PipeEnd.pair()
    const chunk = Buffer.alloc(64 * 1024)
    let accepted = 0
    const write = (): void =>
      void one.write(chunk, (error) => {
        if (error) return
        accepted += 1
        write()
      })
    write()
    for (let turns = 0; turns < 50; turns += 1) await turn()
    expect(accepted).toBeLessThanOrEqual(2)
    other.on('data', () => accepted > 20 && other.destroy())
    await once(other, 'close')
    expect(accepted).toBeGreaterThan(20)
  })
})

describe('an end', () => {
  it('that is destroyed with an error destroys the other with the same error', async () => {
    const [one, other] = PipeEnd.pair()
    const failed = once(other, 'error')
    const error = new Error('broken')
    one.destroy(error)
    expect(await failed).toEqual([error])
  })

  it('that had finished writing is read completely before the other closes', async () => {
    const [one, other] = PipeEnd.pair()
    one.end('all')
    await once(one, 'finish')
    one.destroy()
    await turn()
    expect(other.destroyed).toBe(false)
    const closed = once(other, 'close')
    expect(String(await once(other, 'data'))).toBe('all')
    await closed
  })

  it('that had finished writing closes the other when that has already read everything', async () => {
    const [one, other] = PipeEnd.pair()
    one.end()
    other.resume()
    await once(other, 'end')
    expect(other.destroyed).toBe(false)
    one.destroy()
    await once(other, 'close')
  })

  it('cannot be written to when the other is closed', async () => {
    const [one, other] = PipeEnd.pair()
    const closed = once(one, 'close')
    other.destroy()
    one.write('x')
    await closed
  })

  it('may fail without an error listener', async () => {
    const [one, other] = PipeEnd.pair()
    const closed = new Promise((resolve) => other.once('close', resolve))
    one.destroy(new Error('no listener'))
    await closed
    expect(other.errored).toMatchObject({ message: 'no listener' })
  })

  it('of the client closes when the server has ended, as a socket does, but not vice versa', async () => {
    const [client, server] = PipeEnd.pair()
    client.end()
    server.resume()
    await once(server, 'end')
    expect(server.writable).toBe(true)
    server.end('still')
    expect(String(await once(client, 'data'))).toBe('still')

    const [asking, answering] = PipeEnd.pair()
    answering.end()
    asking.resume()
    await once(asking, 'close')
  })
})

describe('setTimeout', () => {
  it('emits timeout after that time without reads and writes, and does nothing else', async () => {
    const [one] = PipeEnd.pair()
    one.setTimeout(10)
    expect(one.timeout).toBe(10)
    const keep = setTimeout(() => {}, 10_000)
    await once(one, 'timeout')
    clearTimeout(keep)
    expect(one.destroyed).toBe(false)
  })

  it.each(['write', 'read'] as const)('starts again with each %s', async (kind) => {
    const [one, other] = PipeEnd.pair()
    const [active, passive] = kind === 'write' ? [one, other] : [other, one]
    passive.resume()
    let timeouts = 0
    one.setTimeout(200, () => {
      timeouts += 1
    })
    const end = performance.now() + 600
    while (performance.now() < end) {
      active.write('x')
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(timeouts).toBe(0)
    await once(one, 'timeout', { signal: AbortSignal.timeout(10_000) })
  })

  it('can be disabled, with its listener', async () => {
    const [one] = PipeEnd.pair()
    const listener = (): void => {}
    one.setTimeout(10_000, listener)
    one.setTimeout(0, listener)
    expect(one.listenerCount('timeout')).toBe(0)
    expect(one.timeout).toBe(0)
  })

  it('does not keep the process alive', () => {
    const before = process.getActiveResourcesInfo().length
    const [one] = PipeEnd.pair()
    one.setTimeout(60_000)
    expect(process.getActiveResourcesInfo()).toHaveLength(before)
    one.destroy()
  })
})
