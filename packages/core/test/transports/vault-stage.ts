import { readFileSync, writeFileSync } from 'node:fs'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, connect } from 'kubecred'
import { type ConnectionFields, type LoginHandler, Vault } from 'kubecred/vault'
import type { Answered } from './admin.ts'
import { codesOf } from './codes-of.ts'
import { type Driver, type Got, NAMESPACES, type Opened, type Sent, strongest } from './driver.ts'
import { signingWith } from './signed-login.ts'
import { until } from './until.ts'

export interface VaultStageOptions {
  /** The number of servers; one by default. */
  readonly servers?: number
  /** The login handlers, by id. */
  readonly logins: (servers: Servers) => Readonly<Record<string, LoginHandler>>
  readonly freezeLimitMs?: number
  readonly queueLimit?: number
}

/** There is always a first one. */
type Servers = readonly [Sandbox, ...Sandbox[]]

/** Longer than any expected wait, and shorter than the timeout of a test. */
const FREEZE_LIMIT_MS = 20_000

/** Servers, a vault with logins for them, and a client of the driver that uses it. */
export class VaultStage implements AsyncDisposable {
  readonly servers: Servers
  readonly vault: Vault
  readonly cluster: Cluster
  readonly client: Opened

  private constructor(servers: Servers, vault: Vault, cluster: Cluster, client: Opened) {
    this.servers = servers
    this.vault = vault
    this.cluster = cluster
    this.client = client
  }

  /** Resolves when all login handlers have returned. */
  static async open(driver: Driver, options: VaultStageOptions): Promise<VaultStage> {
    const { freezeLimitMs = FREEZE_LIMIT_MS, queueLimit = 100 } = options
    const more = Array.from({ length: (options.servers ?? 1) - 1 }, () => startSandbox())
    const servers: Servers = [await startSandbox(), ...(await Promise.all(more))]
    const vault = new Vault({ freezeLimitMs, queueLimit })
    for (const [id, handler] of Object.entries(options.logins(servers))) {
      vault.onLogin(handler, { id, errors: 'permanent' })
    }
    const begin = (more: Pick<ConnectOptions, 'transport'>): Promise<Cluster> =>
      connect({ vault, ...more })
    const cluster = await begin({})
    await until(() => vault.status()?.logins.every(({ state }) => state === 'ready'))
    const from = { kubeconfig: writeKubeconfig(servers), vault, connect: begin }
    return new VaultStage(servers, vault, cluster, await driver.open(cluster, from))
  }

  get sandbox(): Sandbox {
    return this.servers[0]
  }

  send(request: Sent): Promise<Got> {
    return this.client.send(request)
  }

  /** Sends a request and reads its response. */
  async ask(request: Partial<Sent> = {}): Promise<Answered> {
    const { status, body } = await this.send({ path: NAMESPACES, ...request })
    let text = ''
    for await (const chunk of body.setEncoding('utf8')) text += chunk as string
    return { status, text }
  }

  /** Returns the outcome of a request: its status, or the codes of its error. */
  outcome(request: Partial<Sent> = {}): Promise<unknown[]> {
    return this.ask(request).then(({ status }) => [status], codesOf)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close().catch(() => {})
    await this.cluster.close()
    await Promise.all(this.servers.map((server) => server.close()))
  }
}

/** What a handler returns for a user of a server: the strongest credential that the transport supports. */
export async function infoFor(
  driver: Driver,
  sandbox: Sandbox,
  user: string,
): Promise<ConnectionFields> {
  const { token } = sandbox.issueToken({ user })
  const info = { server: sandbox.url, caData: sandbox.caPem, token }
  if (strongest(driver) === 'token') return info
  const { certificate, key } = await sandbox.issueCertificate({ user })
  if (driver.onlySigns) return { ...info, ...signingWith(certificate, key) }
  return { ...info, certificateData: certificate, privateKeyData: key }
}

/** The kubeconfig for clients that need one: the first server, and the CAs of all. */
function writeKubeconfig(servers: Servers): string {
  const path = servers[0].writeKubeconfig({ user: { token: 'not-used' } })
  const content = JSON.parse(readFileSync(path, 'utf8')) as {
    clusters: { cluster: Record<string, unknown> }[]
  }
  const authorities = servers.map(({ caPem }) => caPem).join('\n')
  for (const { cluster } of content.clusters) {
    cluster['certificate-authority-data'] = Buffer.from(authorities).toString('base64')
  }
  writeFileSync(path, JSON.stringify(content))
  return path
}
