import { expect, it, vi } from 'vitest'
import type { Pool } from '../../../src/adapters/undici/dispatcher-options.ts'
import { LimitedPool } from '../../../src/adapters/undici/pools.ts'
import type { Sendable } from '../../../src/exchange/exchange.ts'
import type { Controller } from '../../../src/exchange/handler.ts'

/** A call that records its events. */
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
  const few = new LimitedPool(() => ({}) as Pool)
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

it('a limited pool sends four requests at once, and the next when one has ended', async () => {
  const { begun, requests } = stage()
  expect(begun).toEqual([0, 1, 2, 3])
  requests[2]?.done()
  requests[2]?.done()
  await vi.waitFor(() => expect(begun).toEqual([0, 1, 2, 3, 4]))
})

it('a limited pool removes an aborted request, and sends the next one instead', async () => {
  const { begun, failed, requests } = stage()
  requests[4]?.abort(new Error('no time'))
  requests[0]?.done()
  await vi.waitFor(() => expect(begun).toEqual([0, 1, 2, 3, 5]))
  expect(failed).toEqual([[4, 'no time']])
})

it('a limited pool rejects waiting requests when it is destroyed, and opens no connection for them', async () => {
  const { few, begun, failed, requests } = stage()
  few.destroy(new Error('the end'))
  await few.whenIdle()
  expect(failed).toEqual([4, 5, 6].map((index) => [index, 'the end']))
  for (const request of requests) request.done()
  expect(begun).toEqual([0, 1, 2, 3])
})

it('a limited pool frees the place of a request that could not be sent', () => {
  const few = new LimitedPool(() => {
    throw new Error('no pool')
  })
  const enter = (): void => few.enter(callOf(() => {}).call, () => {})
  for (let count = 0; count < 6; count += 1) expect(enter).toThrow('no pool')
})
