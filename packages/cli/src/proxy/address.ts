import { isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { UsageError } from '../usage-error.ts'

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/
const WILDCARD = /^(?:0\.0\.0\.0|::)$/

/**
 * Rejects addresses that other machines can reach, unless `mayBeRemote` is set.
 *
 * @throws {UsageError} The message names the flag.
 */
export function checkAddress(address: string, mayBeRemote: boolean): void {
  if (address !== 'localhost' && isIP(address) === 0) {
    throw new UsageError(`flag --address takes an IP address, not ${JSON.stringify(address)}`)
  }
  if (LOOPBACK.test(address) || mayBeRemote) return
  throw new UsageError(
    `other machines can reach ${address}: they could use your credential, and anyone in between could read the secret and all data; add --allow-remote if that is intended`,
  )
}

/** Returns whether only programs on this machine can reach an address. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address)
}

/**
 * Returns the values of the Host header that belong to a listener.
 *
 * IP addresses are safe: DNS rebinding needs a host name.
 */
export function ownHosts(address: string, port: number): string[] {
  const own = WILDCARD.test(address) ? allAddresses() : [address]
  const names = isLoopback(address) || WILDCARD.test(address) ? ['localhost', ...own] : own
  return [...new Set(names)].map((name) => hostAt(name, port))
}

/** Formats a host and a port for a URL. */
export function hostAt(address: string, port: number): string {
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`
}

function allAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).map(({ address }) => address),
  )
}
