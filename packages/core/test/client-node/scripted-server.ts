import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { type Attachment, attach } from 'kubecred/client-node'
import { makePair } from '../fixtures/make-certificates.ts'
import type { ClientNode } from './stage.ts'

/** A request as the server received it. */
export interface Received {
  readonly method: string | undefined
  readonly path: string | undefined
  /** The type of the body, if there is one. */
  readonly type: string | undefined
  readonly authorization: string | undefined
  readonly body: string
}

/** Responds to a request whose body has arrived. */
export type Script = (request: Received, response: ServerResponse) => void

/** A server that does what a test says, and two API clients of one attached KubeConfig for it. */
export class ScriptedServer implements AsyncDisposable {
  readonly kc: KubeConfig
  /** Made before `attach()`: client-node sends its requests, with our agent or dispatcher. */
  readonly early: CoreV1Api
  /** Made after `attach()`: its requests go over the line. */
  readonly direct: CoreV1Api
  readonly received: Received[] = []
  readonly attachment: Attachment
  readonly #server: Server

  private constructor(client: ClientNode, server: Server, path: string) {
    const { port } = server.address() as AddressInfo
    this.#server = server
    this.kc = new client.KubeConfig()
    this.kc.loadFromClusterAndUser(
      { name: 'c', server: `https://127.0.0.1:${port}${path}`, skipTLSVerify: true },
      { name: 'u', token: 'of-the-user' },
    )
    this.early = this.kc.makeApiClient(client.CoreV1Api)
    this.attachment = attach(this.kc, { kubeconfig: { text: '{}', folder: '/' } })
    this.direct = this.kc.makeApiClient(client.CoreV1Api)
  }

  /** @param path The path of the server's address in the kubeconfig. */
  static async open(client: ClientNode, script: Script, path = ''): Promise<ScriptedServer> {
    const { certificate: cert, key } = await makePair()
    const server = createServer({ cert, key })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const scene = new ScriptedServer(client, server, path)
    server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
      response.sendDate = false
      const { method, url, headers } = request
      const body = await text(request)
      const type = body === '' ? undefined : headers['content-type']
      const { authorization } = headers
      const received = { method, path: url, type, authorization, body }
      scene.received.push(received)
      script(received, response)
    })
    return scene
  }

  /** Ends the server, so that nothing listens at its address. */
  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop()
    await this.attachment.close()
  }
}
