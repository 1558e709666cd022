import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type KubeconfigOptions,
  type PluginOptions,
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, connect } from 'kubecred'
import { loginWithKubeconfig } from 'kubecred/logins'
import { Vault } from 'kubecred/vault'
import { type Answered, asAdmin } from './admin.ts'
import { type Driver, NAMESPACES, type Opened, type Sent, type Upgraded } from './driver.ts'
import { signedLogin } from './signed-login.ts'
import { UpgradedStream } from './upgraded-stream.ts'
import { type Stream, Watch } from './watch.ts'

export interface SceneOptions {
  readonly sandbox?: SandboxOptions
  /** What the user of the kubeconfig authenticates with, and where it leads. */
  readonly kubeconfig?: (sandbox: Sandbox) => KubeconfigOptions | Promise<KubeconfigOptions>
  /** Puts the server's CA into a file of this name, beside the kubeconfig. */
  readonly authorityFile?: string
}

/** Less than a case may take, so that what nobody thaws is told. */
const FREEZE_LIMIT_MS = 20_000

/** A server, a kubeconfig that leads to it, and a client of the driver's kind that uses it. */
export class Scene implements AsyncDisposable {
  readonly sandbox: Sandbox
  readonly #driver: Driver
  readonly #cluster: Cluster
  readonly #client: Opened

  private constructor(sandbox: Sandbox, driver: Driver, cluster: Cluster, client: Opened) {
    this.sandbox = sandbox
    this.#driver = driver
    this.#cluster = cluster
    this.#client = client
  }

  static async open(driver: Driver, options: SceneOptions = {}): Promise<Scene> {
    const sandbox = await startSandbox(options.sandbox)
    const written = await options.kubeconfig?.(sandbox)
    const kubeconfig = sandbox.writeKubeconfig(written)
    if (options.authorityFile !== undefined) {
      nameAuthority(kubeconfig, join(sandbox.folder, options.authorityFile), sandbox.caPem)
    }
    // A kubeconfig user is a vault with one source: the same cases hold for both.
    const vault = driver.isOnVault ? kubeconfigVault(kubeconfig, driver) : undefined
    const begin = (more: Pick<ConnectOptions, 'transport'>): Promise<Cluster> =>
      connect(vault === undefined ? { kubeconfig, ...more } : { vault, ...more })
    const cluster = await begin({})
    const from = { kubeconfig, connect: begin, ...(vault && { vault }) }
    return new Scene(sandbox, driver, cluster, await driver.open(cluster, from))
  }

  /** The common one: a plugin of the sandbox for the user `jane`. */
  static withPlugin(
    driver: Driver,
    plugin: Partial<PluginOptions> = {},
    options: SceneOptions = {},
  ): Promise<Scene> {
    return Scene.open(driver, {
      ...options,
      kubeconfig: async (sandbox) => ({
        ...(await options.kubeconfig?.(sandbox)),
        user: { exec: await sandbox.plugin({ user: 'jane', ...weakest(driver), ...plugin }) },
      }),
    })
  }

  /** Sends a request and reads its answer to the end. */
  async ask(request: string | Sent = NAMESPACES): Promise<Answered> {
    const sent = typeof request === 'string' ? { path: request } : request
    const { status, body } = await this.#client.send(sent)
    let text = ''
    for await (const chunk of body.setEncoding('utf8')) text += chunk as string
    return { status, text }
  }

  /** Statuses of many requests that were sent at once, each one once. */
  async askAtOnce(count: number, path = NAMESPACES): Promise<number[]> {
    const answers = await Promise.all(Array.from({ length: count }, () => this.ask(path)))
    return distinct(answers.map(({ status }) => status))
  }

  /** Statuses of many requests, the next sent when the last was answered, each one once. */
  async askInTurn(count: number, path = NAMESPACES): Promise<number[]> {
    const statuses: number[] = []
    for (let sent = 0; sent < count; sent += 1) statuses.push((await this.ask(path)).status)
    return distinct(statuses)
  }

  /** Begins something long: a watch, or what this transport has in its place. */
  async watch(): Promise<Stream> {
    if (this.#driver.streamsAreUpgrades) {
      return new UpgradedStream(await this.upgrade(), this.sandbox)
    }
    return Watch.open((request) => this.#client.send(request), this.sandbox)
  }

  /** Takes away what a user authenticates with; what is given after that is good. */
  revoke(user: string): void {
    this.sandbox.revoke(user)
    if (this.#driver.onlySigns) this.sandbox.revokeCertificates(user)
  }

  get canUpgrade(): boolean {
    return this.#client.upgrade !== undefined
  }

  /** Opens a connection to something that echoes, in a pod that is made for it. */
  async upgrade(): Promise<Upgraded> {
    const { upgrade } = this.#client
    if (upgrade === undefined) throw new Error('this client opens no upgraded connections')
    const pod = { metadata: { name: 'web' } }
    await asAdmin(this.sandbox, 'POST', '/api/v1/namespaces/default/pods', pod)
    return upgrade.call(this.#client, { namespace: 'default', pod: 'web' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close()
    await this.#cluster.close()
    await this.sandbox.close()
  }
}

/** How often the plugin has run when a scene has opened: a vault waits for its first login. */
export function runsAtFirst({ isOnVault }: Driver): number {
  return isOnVault ? 1 : 0
}

function kubeconfigVault(kubeconfig: string, { onlySigns }: Driver): Vault {
  return new Vault({ freezeLimitMs: FREEZE_LIMIT_MS }).onLogin(
    (context) =>
      onlySigns ? signedLogin(kubeconfig) : loginWithKubeconfig(context, { kubeconfig }),
    { id: 'kubeconfig' },
  )
}

/** What a plugin answers where that does not matter. */
function weakest({ onlySigns }: Driver): Pick<PluginOptions, 'answers'> {
  return onlySigns ? { answers: 'certificate' } : {}
}

export function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}

/** Has a kubeconfig name a file in place of the CA itself. The sandbox writes JSON. */
function nameAuthority(kubeconfig: string, path: string, caPem: string): void {
  const content = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
    clusters: { cluster: Record<string, unknown> }[]
  }
  for (const { cluster } of content.clusters) {
    delete cluster['certificate-authority-data']
    cluster['certificate-authority'] = path
  }
  writeFileSync(path, caPem)
  writeFileSync(kubeconfig, JSON.stringify(content))
}
