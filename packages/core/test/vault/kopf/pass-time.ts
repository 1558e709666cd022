import type { FakeClock } from '../../../src/testing/fake-clock.ts'
import { settle } from '../vault-scene.ts'

/** Lets time go on in small steps, and everything with it. */
export async function passTime(clock: FakeClock, seconds: number, stepMs = 1000): Promise<void> {
  for (let passed = 0; passed < seconds * 1000; passed += stepMs) {
    await settle()
    clock.advance(stepMs)
  }
  await settle()
}

/** How a promise settled, without an unhandled rejection. */
export function outcome<T>(value: T | Promise<T>): Promise<T | unknown> {
  return Promise.resolve(value).catch((error: unknown) => error)
}
