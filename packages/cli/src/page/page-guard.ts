import type { IncomingMessage } from 'node:http'

/** Why a request is rejected. */
export interface Rejection {
  readonly status: number
  readonly message: string
}

/**
 * Rejects requests from other web pages. Returns undefined for requests from the page itself or from outside a browser.
 *
 * The check of `Host` stops DNS rebinding; those of `Origin` and `Sec-Fetch-Site` stop other pages. Links from other
 * pages are allowed: the page itself contains no data, and it cannot be framed.
 */
export function rejectForeignRequest(
  request: IncomingMessage,
  port: number,
): Rejection | undefined {
  const { host = '', origin } = request.headers
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]
  if (isRepeated(request, 'host') || !hosts.includes(host.toLowerCase())) {
    return { status: 421, message: 'this is not the address of the page; open the printed URL' }
  }
  if (origin !== undefined && origin !== `http://${host.toLowerCase()}`) {
    return { status: 403, message: 'other pages may not read this one' }
  }
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isLink(request)) {
    return { status: 403, message: 'other pages may not read or embed this one' }
  }
  return undefined
}

/** Whether the request opens the page in a tab, and not in a frame. */
function isLink({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  )
}

/** Whether a header is repeated. Node uses the first value; other programs may use another. */
function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  return rawHeaders.filter((each, at) => at % 2 === 0 && each.toLowerCase() === name).length > 1
}
