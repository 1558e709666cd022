import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { AbortableQueue } from '../../src/lifecycle/abortable-queue.ts'

/** A queue, and how each wait ended: `name value` or `name left: reason`, in the order in which they ended. */
function watchedQueue() {
  const queue = new AbortableQueue<string>()
  const ended: string[] = []
  return {
    queue,
    ended,
    wait: (name: string, ...how: Parameters<typeof queue.wait>): Promise<unknown> =>
      queue.wait(...how).then(
        (value) => ended.push(`${name} ${value}`),
        (reason) => ended.push(`${name} left: ${reason}`),
      ),
  }
}

function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length
}

describe('an abortable queue', () => {
  it('resolves waits one by one, in the order of arrival', async () => {
    const { queue, ended, wait } = watchedQueue()
    const all = Promise.all(['a', 'b', 'c'].map((name) => wait(name)))
    expect([queue.next('1'), queue.next('2'), queue.size]).toEqual([true, true, 1])
    expect([queue.next('3'), queue.next('4'), queue.size]).toEqual([true, false, 0])
    await all
    expect(ended).toEqual(['a 1', 'b 2', 'c 3'])
  })

  it('resolves all waits in the order of arrival, and does not keep the value for later callers', async () => {
    const { queue, ended, wait } = watchedQueue()
    const all = Promise.all(['a', 'b'].map((name) => wait(name)))
    queue.releaseAll('now')
    const later = wait('c')
    await all
    expect([ended, queue.size]).toEqual([['a now', 'b now'], 1])
    queue.next('later')
    await later
    expect(ended.at(-1)).toBe('c later')
  })

  it('rejects all waits in the order of arrival', async () => {
    const { queue, ended, wait } = watchedQueue()
    const all = Promise.all(['a', 'b'].map((name) => wait(name)))
    queue.rejectAll('closed')
    await all
    expect([ended, queue.size]).toEqual([['a left: closed', 'b left: closed'], 0])
  })

  it('rejects a caller whose signal is aborted, and keeps the order of the others', async () => {
    const { queue, ended, wait } = watchedQueue()
    const abort = new AbortController()
    const all = Promise.all([wait('a'), wait('b', abort.signal), wait('c')])
    abort.abort('given up')
    expect(queue.size).toBe(2)
    queue.next('1')
    queue.next('2')
    await all
    expect(ended).toEqual(['b left: given up', 'a 1', 'c 2'])
  })

  it('does not queue a caller whose signal is already aborted', async () => {
    const { queue, ended, wait } = watchedQueue()
    let isLimited = false
    const left = wait('a', AbortSignal.abort('too late'), () => {
      isLimited = true
      return () => {}
    })
    expect(queue.size).toBe(0)
    await left
    expect([ended, isLimited]).toEqual([['a left: too late'], false])
  })

  it.each<[string, (queue: AbortableQueue<string>, abort: AbortController) => unknown]>([
    ['next', (queue) => queue.next('x')],
    ['releaseAll', (queue) => queue.releaseAll('x')],
    ['rejectAll', (queue) => queue.rejectAll('x')],
    ['an abort', (_, abort) => abort.abort('x')],
  ])(
    'removes the abort listener and stops the limit when a wait is ended by %s',
    async (_, end) => {
      const { queue, wait } = watchedQueue()
      const abort = new AbortController()
      let stops = 0
      const ended = wait('a', abort.signal, () => () => {
        stops += 1
      })
      expect([listenersOf(abort.signal), stops]).toEqual([1, 0])
      end(queue, abort)
      expect([listenersOf(abort.signal), stops, queue.size]).toEqual([0, 1, 0])
      await ended
    },
  )

  it('rejects a caller at its limit, and stops the limit', async () => {
    const { queue, ended, wait } = watchedQueue()
    const abort = new AbortController()
    const limit: { leave?: (reason: unknown) => void; isStopped?: boolean } = {}
    const all = Promise.all([
      wait('a', abort.signal, (leave) => {
        limit.leave = leave
        return () => {
          limit.isStopped = true
        }
      }),
      wait('b'),
    ])
    limit.leave?.('time is up')
    expect([listenersOf(abort.signal), limit.isStopped, queue.size]).toEqual([0, true, 1])
    queue.next('1')
    await all
    expect(ended).toEqual(['a left: time is up', 'b 1'])
  })
})
