import { once } from 'node:events'
import http, { type IncomingMessage, type RequestListener } from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import type { Cluster } from 'kubecred'
import { ClusterProxy, type ProxyOptions, type RequestSummary, serverOptions } from 'kubecred/proxy'
import { type PlainServer, startPlainServer } from '../adapters/https/plain-server.ts'

export const SECRET = 'proxy-secret-0123456789'

/** A request that reached the server behind the proxy. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headersDistinct']
}

/** A listening proxy, and what `onRequest` received. */
export interface RunningProxy extends AsyncDisposable {
  readonly proxy: ClusterProxy
  readonly server: http.Server
  readonly port: number
  readonly url: string
  readonly notes: RequestSummary[]
}

/** A listening proxy with a server behind it. */
export interface Scene extends RunningProxy {
  readonly plain: PlainServer
  readonly seen: Seen[]
}

type Given = Partial<Omit<ProxyOptions, 'cluster'>> & {
  readonly tls?: { readonly cert: string; readonly key: string }
}

export async function startProxy(cluster: Cluster, given: Given = {}): Promise<RunningProxy> {
  const { tls, ...options } = given
  const limited = serverOptions(options.limits)
  const server = tls ? https.createServer({ ...limited, ...tls }) : http.createServer(limited)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const notes: RequestSummary[] = []
  const proxy = makeProxy(server, {
    cluster,
    hosts: [`127.0.0.1:${port}`, `localhost:${port}`],
    ...('secret' in options ? {} : { secret: SECRET }),
    onRequest: (note) => notes.push(note),
    ...options,
  })
  proxy.serve(server)
  return {
    proxy,
    server,
    port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    notes,
    [Symbol.asyncDispose]: () => proxy.close({ graceMs: 0 }),
  }
}

/** Closes the server if the options are rejected. */
function makeProxy(server: http.Server, options: ProxyOptions): ClusterProxy {
  try {
    return new ClusterProxy(options)
  } catch (error) {
    server.close()
    throw error
  }
}

export async function startScene(listener: RequestListener, given: Given = {}): Promise<Scene> {
  const seen: Seen[] = []
  const plain = await startPlainServer((request, response) => {
    const { method = '', url = '', headersDistinct: headers } = request
    seen.push({ method, url, headers })
    listener(request, response)
  })
  const running = await startProxy(plain.cluster, given).catch(async (error) => {
    await plain[Symbol.asyncDispose]()
    throw error
  })
  const end = async (): Promise<void> => {
    await running[Symbol.asyncDispose]()
    await plain[Symbol.asyncDispose]()
  }
  let ended: Promise<void> | undefined
  return {
    ...running,
    plain,
    seen,
    [Symbol.asyncDispose]() {
      ended ??= end()
      return ended
    },
  }
}

export interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers?: http.OutgoingHttpHeaders
  readonly body?: string | Buffer
}

/** The headers of a client that knows the secret. */
export const BEARER = { authorization: `Bearer ${SECRET}` }

/** Sends a request and returns its response, with the body unread. */
export function send(port: number, asked: Asked = {}): Promise<IncomingMessage> {
  const { method = 'GET', path = '/api', headers = BEARER, body } = asked
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, method, path, headers, agent: false })
    request.once('response', resolve).once('error', reject)
    request.once('upgrade', (response, socket) => {
      socket.destroy()
      resolve(response)
    })
    request.end(body)
  })
}

/** Sends a request and reads the whole response. */
export async function ask(
  port: number,
  asked: Asked = {},
): Promise<{
  status: number
  reason: string
  headers: IncomingMessage['headersDistinct']
  text: string
}> {
  const response = await send(port, asked)
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  const { statusCode: status = 0, statusMessage: reason = '', headersDistinct: headers } = response
  return { status, reason, headers, text }
}

/** Sends raw bytes, and returns everything received until the connection ends. */
export async function sendBytes(port: number, bytes: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {})
  socket.write(Buffer.from(bytes, 'latin1'))
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}

/** Returns the head of an authenticated request with further header lines. */
export function head(port: number, line: string, ...more: string[]): string {
  const lines = [line, `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${SECRET}`, ...more]
  return `${lines.join('\r\n')}\r\n\r\n`
}
