import { mkdirSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { dirname, join } from 'node:path'
import {
  type IssuedCertificate,
  type RequestRecord,
  type Sandbox,
  startSandbox,
} from '../../packages/sandbox/src/index.ts'
import { Credentials, type SandboxChoice } from '../request-credentials.ts'
import { ListeningRelay } from './listening-relay.ts'
import { type PluginAnswer, RecordingPlugin } from './recording-plugin.ts'
import { RecordingProxy } from './recording-proxy.ts'

/** Entries of a kubeconfig. */
export interface Entries {
  readonly user?: object
  readonly cluster?: object
  readonly context?: object
}

/** A request with all its headers. */
export interface SeenRequest {
  readonly record: RequestRecord
  readonly headers: IncomingHttpHeaders
}

const V1 = 'client.authentication.k8s.io/v1'

/** What a case works with: a server, a home, and plugins in a separate PATH. */
export class Scene implements AsyncDisposable {
  readonly sandbox: Sandbox
  readonly credentials: Credentials
  readonly plugins: RecordingPlugin[] = []
  readonly #relay: ListeningRelay
  readonly #proxy: RecordingProxy
  readonly #headers: IncomingHttpHeaders[] = []
  readonly #names = new Map<string, string>()

  private constructor(sandbox: Sandbox, relay: ListeningRelay, proxy: RecordingProxy) {
    this.sandbox = sandbox
    this.credentials = new Credentials(sandbox)
    this.#relay = relay
    this.#proxy = proxy
    sandbox.respondWith(({ headers }) => void this.#headers.push(headers))
    for (const folder of ['bin', 'home/.kube']) {
      mkdirSync(join(sandbox.folder, folder), { recursive: true })
    }
    this.#names.set(sandbox.folder, '{folder}')
    this.#names.set(String(relay.port), '{port}')
    this.#names.set(String(proxy.port), '{proxy port}')
  }

  static async set(choice: SandboxChoice): Promise<Scene> {
    const sandbox = await startSandbox(choice)
    const relay = await ListeningRelay.before(Number(new URL(sandbox.url).port))
    return new Scene(sandbox, relay, await RecordingProxy.start())
  }

  /** The address of the relay in front of the server. */
  get server(): string {
    return `${new URL(this.sandbox.url).protocol}//${this.host}`
  }

  get host(): string {
    return `127.0.0.1:${this.#relay.port}`
  }

  get proxyHost(): string {
    return `127.0.0.1:${this.#proxy.port}`
  }

  get folder(): string {
    return this.sandbox.folder
  }

  get home(): string {
    return join(this.folder, 'home')
  }

  /** The environment of both programs, without that of a command. */
  get env(): Readonly<Record<string, string>> {
    return {
      HOME: this.home,
      PATH: `${join(this.folder, 'bin')}:/usr/bin:/bin`,
      KUBECONFIG: join(this.folder, 'config'),
    }
  }

  get caData(): string {
    return Buffer.from(this.sandbox.caPem).toString('base64')
  }

  token(name: string): string {
    const token = this.credentials.token(name)
    this.#names.set(token, `{token of ${name}}`)
    return token
  }

  certificate(name: string): Promise<IssuedCertificate> {
    return this.credentials.certificate(name)
  }

  write(name: string, content: string | Uint8Array, mode = 0o600): string {
    const path = join(this.folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { mode })
    return path
  }

  /** Writes a kubeconfig with the server as its cluster, one user and one context. */
  config(entries: Entries = {}, name = 'config'): string {
    return this.write(name, JSON.stringify(this.configObject(entries), null, 2))
  }

  configObject({ user = {}, cluster = {}, context = {} }: Entries): object {
    const trust = { 'certificate-authority-data': this.caData }
    return {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'here',
      clusters: [{ name: 'the-cluster', cluster: { server: this.server, ...trust, ...cluster } }],
      contexts: [
        { name: 'here', context: { cluster: 'the-cluster', user: 'the-user', ...context } },
      ],
      users: [{ name: 'the-user', user }],
    }
  }

  /** Adds a plugin to PATH; by default it prints a token of jane. */
  plugin(name = 'plugin', answer?: PluginAnswer): RecordingPlugin {
    return this.pluginAt(join('bin', name), answer)
  }

  pluginAt(path: string, answer: PluginAnswer = { stdout: this.answer() }): RecordingPlugin {
    const file = join(this.folder, path)
    mkdirSync(dirname(file), { recursive: true })
    const plugin = new RecordingPlugin(file, this.folder).answer(answer)
    this.plugins.push(plugin)
    return plugin
  }

  /** The output of a plugin with a token. */
  answer(status: object = { token: this.token('jane') }, apiVersion = V1): string {
    return JSON.stringify({ apiVersion, kind: 'ExecCredential', status })
  }

  /** A mark in the recorded observations. */
  get mark(): { requests: number; connections: number; tunnels: number } {
    return {
      requests: this.sandbox.requests.length,
      connections: this.#relay.seen.length,
      tunnels: this.#proxy.seen.length,
    }
  }

  since({ requests, connections, tunnels }: Scene['mark']) {
    return {
      requests: this.sandbox.requests.slice(requests).map((record, index): SeenRequest => {
        return { record, headers: this.#headers[requests + index] ?? {} }
      }),
      connections: this.#relay.seen.slice(connections),
      tunnels: this.#proxy.seen.slice(tunnels),
    }
  }

  /** Replaces generated values by names, so that the text is the same in each run. */
  plain<T>(seen: T): T {
    let text = JSON.stringify(seen)
    for (const [found, name] of this.#names) text = text.replaceAll(found, name)
    return JSON.parse(text) as T
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#relay.close()
    this.#proxy.close()
    await this.sandbox.close()
  }
}
