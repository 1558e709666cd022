import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'
import { connect, type Socket } from 'node:net'

export const SECRET = 'a-secret-for-tests-0123456789'
export const BEARER = { authorization: `Bearer ${SECRET}` }

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface Asked {
  readonly method?: string
  readonly headers?: object
  readonly body?: string
}

/** A client of the page's listener that can send anything. */
export class PageClient {
  readonly port: number

  constructor(origin: string) {
    this.port = Number(new URL(origin).port)
  }

  /** Unlike `fetch`, sends any header. */
  readonly ask = async (path: string, { method, headers, body }: Asked = {}): Promise<Answer> => {
    const { port } = this
    const sent = request({
      port,
      host: '127.0.0.1',
      path,
      method: method ?? 'GET',
      headers: { ...headers },
      agent: false,
    })
    sent.end(body)
    const [response] = await once(sent, 'response')
    response.setEncoding('utf8')
    let text = ''
    for await (const chunk of response) text += chunk
    return { status: response.statusCode, headers: response.headers, body: text }
  }

  /** Opens a connection and sends raw bytes. */
  readonly open = (text = ''): Socket => {
    const socket = connect(this.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(text)
    return socket
  }
}
