import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PluginOptions, type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, connect, isCredentialError } from 'kubecred'
import { createMetrics, type Metrics, type MetricsOptions } from 'kubecred/metrics'
import { Registry } from 'prom-client'

/** A server, plugins whose output can be changed, and connections that close with the scene. */
export interface Scene extends AsyncDisposable {
  readonly sandbox: Sandbox
  /** A whole second: certificates have no finer resolution. */
  readonly now: number
  connect(user: ScenePlugin | { command: string }, options?: ConnectOptions): Promise<Cluster>
  plugin(options?: Partial<PluginOptions>): Promise<ScenePlugin>
  /** The output of a plugin that returns a certificate for jane. */
  certificate(times: { notBeforeMs: number; notAfterMs: number }): Promise<string>
  /** Path of a kuberc with this policy. */
  kuberc(policy: string): string
}

interface ScenePlugin {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** What the plugin does; may be changed at any time. */
  readonly script: { stdout?: string | undefined; exitCode?: number | undefined }
}

export async function openScene(): Promise<Scene> {
  const sandbox = await startSandbox()
  const now = Math.floor(Date.now() / 1000) * 1000
  const clusters: Cluster[] = []
  return {
    sandbox,
    now,
    async connect(user, options = {}) {
      const { script: _, ...exec } = { script: undefined, ...user }
      const cluster = await connect({
        kubeconfig: sandbox.writeKubeconfig({ user: { exec } }),
        env: { HOME: sandbox.folder, PATH: process.env['PATH'] },
        ...options,
      })
      clusters.push(cluster)
      return cluster
    },
    async plugin(options = {}) {
      const script = { user: 'jane', ...options }
      return { ...(await sandbox.plugin(script)), script }
    },
    async certificate({ notBeforeMs, notAfterMs }) {
      const { certificate, key } = await sandbox.issueCertificate({
        user: 'jane',
        notBefore: new Date(now + notBeforeMs),
        lifetimeMs: notAfterMs - notBeforeMs,
      })
      return JSON.stringify({
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        status: { clientCertificateData: certificate, clientKeyData: key },
      })
    },
    kuberc(credentialPluginPolicy) {
      const path = join(sandbox.folder, 'kuberc')
      const head = { apiVersion: 'kubectl.config.k8s.io/v1beta1', kind: 'Preference' }
      writeFileSync(path, JSON.stringify({ ...head, credentialPluginPolicy }), { mode: 0o600 })
      return path
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(clusters.map((cluster) => cluster.close()))
      await sandbox.close()
    },
  }
}

/** Sends a request and returns its status, or the code of its error. */
export async function request(cluster: Cluster): Promise<number | string> {
  try {
    const response = await cluster.fetch('/api/v1/namespaces')
    await response.arrayBuffer()
    return response.status
  } catch (error) {
    if (!isCredentialError(error)) throw error
    return error.code
  }
}

/** Creates metrics in their own registry. */
export function makeMetrics(clock?: MetricsOptions['clock']): Promise<Metrics<Registry>> {
  return createMetrics({ register: new Registry(), clock })
}

/** Returns the lines of a scrape for one metric, without help and type. */
export function linesOf(text: string, name: string): string[] {
  return text.split('\n').filter((line) => line.startsWith(name) && !line.includes('_bucket'))
}
