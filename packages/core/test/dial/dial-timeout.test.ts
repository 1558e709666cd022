import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DialLimit } from '../../src/dial/signed-tls.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('ends a connection that takes too long, but gives a person more time', async () => {
  const ended = vi.fn()
  const limit = new DialLimit(1000, ended)
  let sign = (): void => {}
  const signing = limit.whileSigning(
    new Promise<void>((resolve) => {
      sign = resolve
    }),
  )
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ended).not.toHaveBeenCalled()
  sign()
  await signing
  await vi.advanceTimersByTimeAsync(999)
  expect(ended).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(ended).toHaveBeenCalledOnce()
})

it('ends also what is never signed', async () => {
  const ended = vi.fn()
  const limit = new DialLimit(1000, ended)
  void limit.whileSigning(new Promise(() => {}))
  await vi.advanceTimersByTimeAsync(600_000)
  expect(ended).toHaveBeenCalledOnce()
})

it('leaves nothing running when it was stopped while somebody signed', async () => {
  const limit = new DialLimit(1000, () => {})
  let sign = (): void => {}
  const signing = limit.whileSigning(
    new Promise<void>((resolve) => {
      sign = resolve
    }),
  )
  limit.stop()
  sign()
  await signing
  expect(vi.getTimerCount()).toBe(0)
})
