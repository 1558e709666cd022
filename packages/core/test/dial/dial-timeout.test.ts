import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DialTimeout } from '../../src/dial/signed-tls.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('the dial timeout ends a slow connection, but is longer while a signature is pending', async () => {
  const ended = vi.fn()
  const timeout = new DialTimeout(1000, ended)
  let sign = (): void => {}
  const signing = timeout.whileSigning(
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

it('the dial timeout ends a connection that is never signed', async () => {
  const ended = vi.fn()
  const timeout = new DialTimeout(1000, ended)
  void timeout.whileSigning(new Promise(() => {}))
  await vi.advanceTimersByTimeAsync(600_000)
  expect(ended).toHaveBeenCalledOnce()
})

it('the dial timeout leaves no timer if it is stopped while a signature is pending', async () => {
  const timeout = new DialTimeout(1000, () => {})
  let sign = (): void => {}
  const signing = timeout.whileSigning(
    new Promise<void>((resolve) => {
      sign = resolve
    }),
  )
  timeout.stop()
  sign()
  await signing
  expect(vi.getTimerCount()).toBe(0)
})
