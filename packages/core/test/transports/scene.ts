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
  /** The user of the kubeconfig, and its server. */
  readonly kubeconfig?: (sandbox: Sandbox) => KubeconfigOptions | Promise<KubeconfigOptions>
  /** Writes the server's CA to a file of this name, beside the kubeconfig. */
  readonly authorityFile?: string
}

/** Shorter than the timeout of a case, so that a request that is never thawed fails with its own error. */
const FREEZE_LIMIT_MS = 20_000

/** A server, a kubeconfig for it, and a client of the driver that uses it. */
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
    try {
      return await Scene.#openWith(sandbox, driver, options)
    } catch (error) {
      await sandbox.close()
      throw error
    }
  }

  static async #openWith(sandbox: Sandbox, driver: Driver, options: SceneOptions): Promise<Scene> {
    const written = await options.kubeconfig?.(sandbox)
    const kubeconfig = sandbox.writeKubeconfig(written)
    if (options.authorityFile !== undefined) {
      nameAuthority(kubeconfig, join(sandbox.folder, options.authorityFile), sandbox.caPem)
    }
    // A kubeconfig user is like a vault with one login: the same cases apply to both.
    const vault = driver.isOnVault ? kubeconfigVault(kubeconfig, driver) : undefined
    const begin = (more: Pick<ConnectOptions, 'transport'>): Promise<Cluster> =>
      connect(vault === undefined ? { kubeconfig, ...more } : { vault, ...more })
    const cluster = await begin({})
    const from = { kubeconfig, connect: begin, ...(vault && { vault }) }
    return new Scene(sandbox, driver, cluster, await driver.open(cluster, from))
  }

  /** Opens a scene with a plugin of the sandbox for the user `jane`. */
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

  /** Sends a request and reads its response. */
  async ask(request: string | Sent = NAMESPACES): Promise<Answered> {
    const sent = typeof request === 'string' ? { path: request } : request
    const { status, body } = await this.#client.send(sent)
    let text = ''
    for await (const chunk of body.setEncoding('utf8')) text += chunk as string
    return { status, text }
  }

  /** Sends many requests at once, and returns their distinct statuses. */
  async askAtOnce(count: number, path = NAMESPACES): Promise<number[]> {
    const answers = await Promise.all(Array.from({ length: count }, () => this.ask(path)))
    return distinct(answers.map(({ status }) => status))
  }

  /** Sends many requests one after the other, and returns their distinct statuses. */
  async askInTurn(count: number, path = NAMESPACES): Promise<number[]> {
    const statuses: number[] = []
    for (let sent = 0; sent < count; sent += 1) statuses.push((await this.ask(path)).status)
    return distinct(statuses)
  }

  /** Opens a watch, or an upgraded connection if the transport has no watches. */
  async watch(): Promise<Stream> {
    if (this.#driver.streamsAreUpgrades) {
      return new UpgradedStream(await this.upgrade(), this.sandbox)
    }
    return Watch.open((request) => this.#client.send(request), this.sandbox)
  }

  /** Revokes the credentials of a user; those that are issued later are good. */
  revoke(user: string): void {
    this.sandbox.revoke(user)
    if (this.#driver.onlySigns) this.sandbox.revokeCertificates(user)
  }

  get canUpgrade(): boolean {
    return this.#client.upgrade !== undefined
  }

  /** Opens a connection to an echo, in a pod that is created for it. */
  async upgrade(): Promise<Upgraded> {
    const { upgrade } = this.#client
    if (upgrade === undefined) throw new Error('this client does not support upgrades')
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

/** How often the plugin has run when a scene is open: a vault waits for its first login. */
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

/** What a plugin returns if the case does not care. */
function weakest({ onlySigns }: Driver): Pick<PluginOptions, 'credential'> {
  return onlySigns ? { credential: 'certificate' } : {}
}

export function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}

/** Replaces the CA in a kubeconfig by the name of a file. The sandbox writes JSON. */
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
