import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type KubeconfigOptions,
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from '@kubecred/sandbox'
import type * as OneFour from '@kubernetes/client-node'
import type { CredentialEvent } from 'kubecred'
import { type Attachment, type AttachOptions, attach } from 'kubecred/client-node'

/** The part of client-node that the tests use: both versions have it, with the types of the older one. */
export type ClientNode = Pick<
  typeof OneFour,
  | 'Attach'
  | 'CoreV1Api'
  | 'createConfiguration'
  | 'Cp'
  | 'Exec'
  | 'KubeConfig'
  | 'KubernetesObjectApi'
  | 'Log'
  | 'makeInformer'
  | 'PatchStrategy'
  | 'PortForward'
  | 'ServerConfiguration'
  | 'Watch'
> &
  // From 1.1 on.
  Partial<Pick<typeof OneFour, 'setHeaderOptions'>>

export interface StageOptions {
  readonly sandbox?: SandboxOptions
  readonly kubeconfig?: (sandbox: Sandbox) => KubeconfigOptions | Promise<KubeconfigOptions>
  readonly attach?: AttachOptions
  /** Not copied, so that a test can change the behaviour of its plugin. */
  readonly plugin?: Parameters<Sandbox['plugin']>[0]
}

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

/** A server, an attached KubeConfig for it, and an API client made from that. */
export class Stage implements AsyncDisposable {
  readonly client: ClientNode
  readonly sandbox: Sandbox
  readonly path: string
  readonly kc: OneFour.KubeConfig
  readonly api: OneFour.CoreV1Api
  /** Made before `attach()`. */
  readonly early: OneFour.CoreV1Api
  readonly attachment: Attachment
  readonly events: CredentialEvent[] = []

  private constructor(client: ClientNode, sandbox: Sandbox, path: string, options: AttachOptions) {
    this.client = client
    this.sandbox = sandbox
    this.path = path
    this.kc = new client.KubeConfig()
    this.kc.loadFromFile(path)
    this.early = this.kc.makeApiClient(client.CoreV1Api)
    const observer = (event: CredentialEvent): void => void this.events.push(event)
    this.attachment = attach(this.kc, { kubeconfig: path, observer, ...options })
    this.api = this.kc.makeApiClient(client.CoreV1Api)
  }

  static async open(client: ClientNode, options: StageOptions = {}): Promise<Stage> {
    const sandbox = await startSandbox(options.sandbox)
    const path = sandbox.writeKubeconfig(await options.kubeconfig?.(sandbox))
    return new Stage(client, sandbox, path, options.attach ?? {})
  }

  /** With a plugin of the sandbox for the user `jane`. */
  static withPlugin(
    client: ClientNode,
    plugin: Partial<Parameters<Sandbox['plugin']>[0]> = {},
    options: StageOptions = {},
  ): Promise<Stage> {
    return Stage.open(client, {
      ...options,
      kubeconfig: async (sandbox) => ({
        ...(await options.kubeconfig?.(sandbox)),
        user: { exec: await sandbox.plugin(options.plugin ?? { user: 'jane', ...plugin }) },
      }),
    })
  }

  /** With a plugin that prints what is in the file `answer`, and counts its runs in `runs`. */
  static withAnswer(
    client: ClientNode,
    answer: string,
    exec: object = {},
    options: StageOptions = {},
  ): Promise<Stage> {
    return Stage.open(client, {
      attach: { policy: { backoffFirstMs: 20, backoffLimitMs: 20 }, ...options.attach },
      kubeconfig: ({ folder }) => {
        writeFileSync(join(folder, 'answer'), answer)
        const script = 'echo run >> "$0/runs"; cat "$0/answer"'
        return { user: { exec: { command: 'sh', args: ['-c', script, folder], ...exec } } }
      },
    })
  }

  file(name: string, content?: string): string {
    const path = join(this.sandbox.folder, name)
    if (content !== undefined) writeFileSync(path, content)
    return path
  }

  /** Runs of the plugin of `withAnswer`. */
  get runs(): number {
    return readFileSync(this.file('runs'), 'utf8').split('\n').length - 1
  }

  /** Lists namespaces, and returns the user that the server saw. */
  async whoAmI(): Promise<string | undefined> {
    await this.api.listNamespace()
    return this.sandbox.requests.at(-1)?.user
  }

  /** Lists namespaces, and returns the codes of the error. */
  failure(): Promise<readonly unknown[]> {
    return this.whoAmI().then((user) => [`no error, but ${user}`], codesOf)
  }

  /** Sends `count` list requests at once. */
  listAtOnce(count: number): Promise<unknown> {
    return Promise.all(Array.from({ length: count }, () => this.api.listNamespace()))
  }

  createConfigMap(name: string): Promise<unknown> {
    return this.api.createNamespacedConfigMap({
      namespace: 'default',
      body: { metadata: { name } },
    })
  }

  async makePod(name: string): Promise<void> {
    const body = { metadata: { name }, spec: { containers: [{ name: 'main', image: 'x' }] } }
    await this.api.createNamespacedPod({ namespace: 'default', body })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.attachment.close()
    await this.sandbox.close()
  }
}

/** What a plugin prints. */
export function answerOf(status: object, more: object = {}): string {
  const kind = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' }
  return JSON.stringify({ ...kind, status, ...more })
}

/** The codes of an error and its causes: client-node wraps our errors. */
export function codesOf(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [error]
  const { code, cause } = error as Error & { code?: unknown }
  return [code, ...(cause === undefined ? [] : codesOf(cause))]
}

/** All messages of an error and its causes. */
export function messagesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { hint } = error as Error & { hint?: string }
  return `${error.message} ${hint ?? ''} ${error.cause === undefined ? '' : messagesOf(error.cause)}`
}
