import { expect, it, vi } from 'vitest'
import type { Pool } from '../../../src/adapters/undici/dispatcher-options.ts'
import { FewConnections } from '../../../src/adapters/undici/pools.ts'
import type { Sendable } from '../../../src/exchange/exchange.ts'
import type { Controller } from '../../../src/exchange/handler.ts'

/** A call that remembers what was reported. */
function callOf(onError: (error: Error) => void) {
  let controller: Controller | undefined
  const call = {
    onRequestStart: (given: Controller) => {
      controller = given
    },
    onResponseError: (_: unknown, error: Error) => onError(error),
  } as unknown as Sendable
  return { call, abort: (reason: Error) => controller?.abort(reason) }
}

function stage() {
  const few = new FewConnections(() => ({}) as Pool)
  const begun: number[] = []
  const failed: [number, string][] = []
  const requests = Array.from({ length: 7 }, (_, index) => {
    const { call, abort } = callOf(({ message }) => void failed.push([index, message]))
    const request = { abort, done: () => {} }
    few.enter(call, (_pool, leave) => {
      request.done = leave
      begun.push(index)
    })
    return request
  })
  return { few, begun, failed, requests }
}

it('lets four through, and the next when one of them is done', async () => {
  const { begun, requests } = stage()
  expect(begun).toEqual([0, 1, 2, 3])
  requests[2]?.done()
  requests[2]?.done()
  await vi.waitFor(() => expect(begun).toEqual([0, 1, 2, 3, 4]))
})

it('forgets a request that is aborted, and lets the next one through in its place', async () => {
  const { begun, failed, requests } = stage()
  requests[4]?.abort(new Error('no time'))
  requests[0]?.done()
  await vi.waitFor(() => expect(begun).toEqual([0, 1, 2, 3, 5]))
  expect(failed).toEqual([[4, 'no time']])
})

it('rejects waiting requests when it ends, and opens nothing for them', async () => {
  const { few, begun, failed, requests } = stage()
  few.destroy(new Error('the end'))
  await few.whenIdle()
  expect(failed).toEqual([4, 5, 6].map((index) => [index, 'the end']))
  for (const request of requests) request.done()
  expect(begun).toEqual([0, 1, 2, 3])
})

it('gives the place of a request back that could not begin', () => {
  const few = new FewConnections(() => {
    throw new Error('no pool')
  })
  const enter = (): void => few.enter(callOf(() => {}).call, () => {})
  for (let count = 0; count < 6; count += 1) expect(enter).toThrow('no pool')
})
