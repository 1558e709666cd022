const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i

/** Whether an address has its scheme written out; `host:port` has none. */
export function hasScheme(server: string): boolean {
  return SCHEME.test(server)
}

/** Whether an address, with or without scheme, is one that requests can be sent to. */
export function isUsableServer(server: string): boolean {
  return parse(server, 'https') !== undefined
}

/**
 * Brings an address into the form all requests start from: scheme, host, port and path, without query,
 * fragment and final slash.
 *
 * @param assumed The scheme for an address that has none.
 */
export function normalizeServer(server: string, assumed: 'http' | 'https'): string {
  const url = parse(server, assumed)
  if (url === undefined) throw new TypeError('server was not checked before')
  return `${url.origin}${trimSlashes(url.pathname)}`
}

/** User names and passwords in the address would be shown wherever the server is: they are not accepted. */
function parse(server: string, assumed: string): URL | undefined {
  const url = tryParseUrl(hasScheme(server) ? server : `${assumed}://${server}`)
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined
  return url.hostname === '' || url.username !== '' || url.password !== '' ? undefined : url
}

/** Parses an address; gives undefined for anything else (`URL.parse` is newer than Node 20). */
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
