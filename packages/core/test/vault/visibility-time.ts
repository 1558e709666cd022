import { settle } from './vault-scene.ts'

/** Lets time pass, a second at a time. */
export async function pass(clock: { advance(ms: number): void }, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await settle()
    clock.advance(1000)
  }
  await settle()
}
