import { type RequestOptions, request } from 'node:http'
import { request as requestTls, type RequestOptions as TlsOptions } from 'node:https'
import { text } from 'node:stream/consumers'

/** Sends a request on a new connection, with Node's own client. */
export function ask(
  url: string,
  options: RequestOptions & TlsOptions = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? requestTls : request
    send(url, { agent: false, ...options }, async (response) => {
      resolve({ status: response.statusCode ?? 0, text: await text(response) })
    })
      .on('error', reject)
      .end()
  })
}
