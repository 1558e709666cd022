import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { readAwsToken } from './aws-token.ts'

/** The cluster name that tokens must be signed for. */
export const AWS_CLUSTER = 'demo'

/** A token webhook for the API server, in the role of aws-iam-authenticator's server. */
export class AwsWebhook implements AsyncDisposable {
  readonly #server: http.Server
  readonly #refused = new Set<string>()
  readonly #refusesNextOf = new Set<string>()
  readonly #accepted = new Map<string, string>()

  private constructor() {
    this.#server = http.createServer((request, response) => void this.#answer(request, response))
  }

  static async start(): Promise<AwsWebhook> {
    const webhook = new AwsWebhook()
    await new Promise<void>((resolve) => webhook.#server.listen(0, '127.0.0.1', resolve))
    return webhook
  }

  /** The contents of the file for kube-apiserver's webhook flag. */
  get config(): object {
    const { port } = this.#server.address() as AddressInfo
    return {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'aws', cluster: { server: `http://127.0.0.1:${port}/` } }],
      users: [{ name: 'api-server', user: {} }],
      contexts: [{ name: 'aws', context: { cluster: 'aws', user: 'api-server' } }],
      'current-context': 'aws',
    }
  }

  /** Refuses the next valid token of a key permanently, as if its user had been removed and added again. */
  refuseNextOf(keyId: string): void {
    this.#refusesNextOf.add(keyId)
  }

  /** How many tokens of a key were accepted. */
  acceptedOf(keyId: string): number {
    return [...this.#accepted.values()].filter((of) => of === keyId).length
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk as string
    const { token } = JSON.parse(text).spec as { token: string }
    const status = await this.#judge(token)
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(review))
  }

  async #judge(token: string): Promise<object> {
    const identity = readAwsToken(token, AWS_CLUSTER, Date.now())
    if (identity === undefined) return { authenticated: false }
    if (this.#refusesNextOf.delete(identity.keyId)) {
      this.#refused.add(token)
      // Two tokens of the same second are equal.
      await pause(Math.max(0, identity.madeAt + 1000 - Date.now()))
    }
    if (this.#refused.has(token)) return { authenticated: false }
    this.#accepted.set(token, identity.keyId)
    return { authenticated: true, user: { username: identity.keyId } }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
