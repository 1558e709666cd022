import { isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { UsageError } from '../usage-error.ts'

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/
const WILDCARD = /^(?:0\.0\.0\.0|::)$/

/**
 * Refuses addresses that others than programs on this machine can reach, unless that is wanted.
 *
 * @throws {UsageError}
 */
export function checkAddress(address: string, mayBeRemote: boolean): void {
  if (address !== 'localhost' && isIP(address) === 0) {
    throw new UsageError(`flag --address takes an IP address, not ${JSON.stringify(address)}`)
  }
  if (LOOPBACK.test(address) || mayBeRemote) return
  throw new UsageError(
    `at ${address} other machines could use your credential, and could read the secret and everything else on the way; if that is meant, add --allow-remote`,
  )
}

export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address)
}

/**
 * The names under which a listener may be called, as they stand in a Host header.
 *
 * Addresses are safe: a hostile page can only come here under a name of its own.
 */
export function ownHosts(address: string, port: number): string[] {
  const own = WILDCARD.test(address) ? allAddresses() : [address]
  const names = isLoopback(address) || WILDCARD.test(address) ? ['localhost', ...own] : own
  return [...new Set(names)].map((name) => hostAt(name, port))
}

/** A host and a port as they stand in an address. */
export function hostAt(address: string, port: number): string {
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`
}

function allAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).map(({ address }) => address),
  )
}
