import type { IncomingMessage } from 'node:http'

/** Why a request is not answered. */
export interface Refusal {
  readonly status: number
  readonly why: string
}

/**
 * Finds out whether a request comes from the page itself or from outside a browser.
 *
 * `Host` keeps out a foreign name that was made to point here (DNS rebinding); `Origin` and `Sec-Fetch-Site` keep out
 * other pages. A link elsewhere may still lead here: the page itself holds nothing, and it is not shown in a frame.
 */
export function refuseStranger(request: IncomingMessage, port: number): Refusal | undefined {
  const { host = '', origin } = request.headers
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]
  if (isRepeated(request, 'host') || !hosts.includes(host.toLowerCase())) {
    return { status: 421, why: 'the page is not at this address; open the one that was printed' }
  }
  if (origin !== undefined && origin !== `http://${host.toLowerCase()}`) {
    return { status: 403, why: 'another page may not read this one' }
  }
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isLink(request)) {
    return { status: 403, why: 'another page may not read or show this one' }
  }
  return undefined
}

/** Whether somebody followed a link, in a tab and not in a frame. */
function isLink({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  )
}

/** Node keeps the first of several; which one others would take is not known. */
function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  return rawHeaders.filter((each, at) => at % 2 === 0 && each.toLowerCase() === name).length > 1
}
