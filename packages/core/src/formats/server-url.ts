const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i

/** Returns whether an address has an explicit scheme; `host:port` has none. */
export function hasScheme(server: string): boolean {
  return SCHEME.test(server)
}

/** Returns whether requests can be sent to an address, with or without a scheme. */
export function isUsableServer(server: string): boolean {
  return parse(server, 'https') !== undefined
}

/**
 * Normalizes the address of a server to scheme, host, port and path, without query, fragment and trailing slashes.
 *
 * @param defaultScheme The scheme of an address that has none.
 * @throws {TypeError} The address is invalid; check it with `isUsableServer` first.
 */
export function normalizeServer(server: string, defaultScheme: 'http' | 'https'): string {
  const url = parse(server, defaultScheme)
  if (url === undefined) throw new TypeError('invalid server address')
  return `${url.origin}${trimSlashes(url.pathname)}`
}

/** Rejects user names and passwords: they would appear wherever the address is shown. */
function parse(server: string, defaultScheme: string): URL | undefined {
  const url = tryParseUrl(hasScheme(server) ? server : `${defaultScheme}://${server}`)
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined
  return url.hostname === '' || url.username !== '' || url.password !== '' ? undefined : url
}

/** Parses a URL; returns undefined if it is invalid. (`URL.parse` does not exist in Node 20.) */
export function tryParseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

function trimSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}
