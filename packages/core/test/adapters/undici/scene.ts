import {
  type PluginOptions,
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, connect } from 'kubecred'
import { createDispatcher, type DispatcherOptions } from 'kubecred/undici'
import type * as undici7 from 'undici'

/**
 * An undici of any version.
 *
 * The types are those of one version: what these tests use is the same in all, and test-d checks the others.
 */
export type AnyUndici = typeof undici7

export interface SceneOptions {
  readonly plugin?: Partial<PluginOptions>
  /** Makes a plugin that replaces the sandbox's. */
  readonly command?: (sandbox: Sandbox) => string
  readonly sandbox?: SandboxOptions
  readonly connect?: ConnectOptions
  readonly dispatcher?: DispatcherOptions
}

/** A server, a cluster for it, and a dispatcher of the version under test. */
export interface Scene extends AsyncDisposable {
  readonly sandbox: Sandbox
  readonly kubeconfig: string
  readonly cluster: Cluster
  readonly dispatcher: undici7.Dispatcher
  readonly origin: string
}

export async function openScene(undici: AnyUndici, options: SceneOptions = {}): Promise<Scene> {
  const sandbox = await startSandbox(options.sandbox)
  const { command } = options
  const exec = command
    ? { command: command(sandbox) }
    : await sandbox.plugin({ user: 'jane', ...options.plugin })
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
  const cluster = await connect({ kubeconfig, ...options.connect })
  return {
    sandbox,
    kubeconfig,
    cluster,
    dispatcher: createDispatcher(cluster, undici, options.dispatcher),
    origin: sandbox.url,
    async [Symbol.asyncDispose]() {
      await cluster.close()
      await sandbox.close()
    },
  }
}

export const NAMESPACES = '/api/v1/namespaces'

/** Sends a request and reads its response. */
export async function ask(
  dispatcher: undici7.Dispatcher,
  options: Partial<undici7.Dispatcher.RequestOptions> = {},
): Promise<{ status: number; text: string }> {
  const { statusCode, body } = await dispatcher.request({
    path: NAMESPACES,
    method: 'GET',
    ...options,
  })
  return { status: statusCode, text: await body.text() }
}

/** The statuses of all responses, oldest first. */
export function statuses({ sandbox }: Pick<Scene, 'sandbox'>): (number | undefined)[] {
  return sandbox.requests.map(({ status }) => status)
}
