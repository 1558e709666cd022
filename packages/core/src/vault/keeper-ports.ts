import type { Clock } from '../ports/clock.ts'
import type { Crypto } from '../ports/crypto.ts'

/** What of the world a keeper needs. */
export interface KeeperPorts {
  readonly clock: Clock
  readonly crypto: Crypto
}
