import { BlockList, isIP } from 'node:net'
import { domainToASCII } from 'node:url'

/** A server as NO_PROXY sees it. */
export interface Destination {
  /** In lower case; IPv6 without brackets. */
  readonly host: string
  readonly port: number
}

/**
 * Whether a list such as `10.0.0.0/8,.corp.example,api.example:6443` names the server.
 *
 * Every form and its meaning are those of Go's httpproxy, so that kubectl and we take the same way.
 */
export function isExempt(destination: Destination, noProxy: string): boolean {
  return noProxy.split(',').some((entry) => matches(entry.trim().toLowerCase(), destination))
}

/** Whether the server is on this machine: the environment's proxy is never asked for it. */
export function isLoopback({ host }: Destination): boolean {
  return host === 'localhost' || isWithin(host, '127.0.0.0', 8) || isWithin(host, '::1', 128)
}

function matches(entry: string, destination: Destination): boolean {
  if (entry === '') return false
  if (entry === '*') return true
  const [, network = '', bits = ''] = /^([^/]+)\/(\d+)$/.exec(entry) ?? []
  if (isPrefix(network, Number(bits))) return isWithin(destination.host, network, Number(bits))
  const { name, port } = split(entry)
  if (port !== '' && port !== String(destination.port)) return false
  // Addresses with a zone, such as fe80::1%eth0, name no server.
  if (name.includes('%')) return false
  if (isIP(name) !== 0) return isWithin(destination.host, name, isIP(name) === 4 ? 32 : 128)
  return isName(destination.host, name)
}

/** `host:port` and `[IPv6]:port` have a port; an IPv6 address without brackets has none. */
function split(entry: string): { name: string; port: string } {
  const [, bracketed, plain, port = ''] = /^(?:\[(.*)\]|([^:[\]]*)):([^:]*)$/.exec(entry) ?? []
  const name = bracketed ?? plain
  return name === undefined ? { name: entry, port: '' } : { name, port }
}

/** `example.com` means itself and everything below it, `.example.com` and `*.example.com` only what is below. */
function isName(host: string, name: string): boolean {
  if (isIP(host) !== 0) return false
  const isBelowOnly = name.startsWith('.') || name.startsWith('*.')
  const bare = name.replace(/^\*?\./, '')
  const ascii = /^[\x20-\x7e]*$/.test(bare) ? bare : domainToASCII(bare)
  if (ascii === '') return false
  return host.endsWith(`.${ascii}`) || (!isBelowOnly && host === ascii)
}

function isPrefix(network: string, bits: number): boolean {
  const family = isIP(network)
  return family !== 0 && bits <= (family === 4 ? 32 : 128)
}

function isWithin(host: string, network: string, bits: number): boolean {
  return familyOf(host) === familyOf(network) && isInside(host, network, bits)
}

/** An IPv4 address written as IPv6 (`::ffff:10.0.0.1`) counts as what it is. */
function familyOf(address: string): number {
  const family = isIP(address)
  return family === 6 && isInside(address, '::ffff:0:0', 96) ? 4 : family
}

function isInside(address: string, network: string, bits: number): boolean {
  if (isIP(address) === 0) return false
  const list = new BlockList()
  list.addSubnet(network, bits, isIP(network) === 4 ? 'ipv4' : 'ipv6')
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
}
