import type { Lease } from '../../src/keeper/lease.ts'
import type { LoginHandler, LoginOptions } from '../../src/vault/login-handler.ts'
import { exactTime } from './exact-time.ts'
import { openScene } from './vault-scene.ts'

export const server = 'https://one.test'
export const good = { server, token: 'good' }

/** One handler that misbehaves, and a request that needs it. */
export function ask(handler: LoginHandler, options: LoginOptions = {}) {
  const scene = openScene({ odd: [handler, options] })
  const { pass } = exactTime(scene.clock)
  const answer = settled(scene.vault.lease())
  return { ...scene, pass, answer, askAgain: () => settled(scene.vault.lease()) }
}

/** What a request got, without an unhandled rejection. */
export function settled(lease: Lease | Promise<Lease>): Promise<unknown> {
  return Promise.resolve(lease).catch((error: unknown) => error)
}
