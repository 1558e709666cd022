import http, { type Agent, type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import type { Sent } from '../../transports/driver.ts'

/** Sends a request with Node's own client, and resolves when the response begins. */
export function request(
  server: string,
  agent: Agent,
  { path, method = 'GET', headers = {}, body, signal }: Sent,
  options: RequestOptions = {},
): Promise<IncomingMessage> {
  const client = server.startsWith('https:') ? https : http
  return new Promise((resolve, reject) => {
    const sent = client.request(server + path, {
      method,
      headers,
      agent,
      ...(signal && { signal }),
      ...options,
    })
    sent.once('response', resolve)
    // Never removed: a request may also fail after its response has begun.
    sent.on('error', reject)
    if (body instanceof Readable) body.pipe(sent)
    else sent.end(body)
  })
}

export async function readText(body: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(Buffer.from(chunk as Buffer))
  return Buffer.concat(chunks).toString('utf8')
}
