import type { ClusterStatus } from '../../connect/cluster.ts'
import {
  describeSelection,
  parseSelection,
  type Selection,
  usesOtherAuthenticator,
} from '../../logins/kube-config-object.ts'
import { Secret } from '../../secret/secret.ts'
import { MADE_BY, VERSION } from '../../version.ts'
import type {
  AttachOptions,
  HttpsOptionsLike,
  KubeConfigLike,
  RequestContextLike,
} from './attach-options.ts'
import { type ClientTransport, failingTransport, makeTransport } from './client-transport.ts'
import { OpenClusters } from './open-clusters.ts'

/** The state of an attached KubeConfig, as plain data without secrets. */
export interface AttachmentStatus {
  /** What authenticates the current user: client-node itself, if kubecred does not support the method. */
  readonly by: 'kubecred' | 'client-node'
  /** The cluster that requests use now; absent before the first request. */
  readonly current?: ClusterStatus
  /** All open clusters, including those of contexts that are no longer current. */
  readonly clusters: readonly ClusterStatus[]
}

/** An attached KubeConfig, returned by `attach()`. */
export interface Attachment extends AsyncDisposable {
  /** Returns its state as plain data, without secrets. */
  status(): AttachmentStatus
  /**
   * Restores the KubeConfig and closes all connections. Requests in flight fail; later requests are sent by client-node
   * itself.
   */
  close(): Promise<void>
}

/** How many transports are remembered. A forgotten one continues to work. */
const MAX_TRANSPORTS = 16

/** Replaces two methods of a KubeConfig, and sends its requests over our clusters. */
export class KubeConfigAttachment implements Attachment {
  readonly [MADE_BY]: string = VERSION
  readonly #kc: KubeConfigLike
  readonly #options: AttachOptions
  readonly #clusters: OpenClusters
  readonly #transports = new Map<string, ClientTransport>()
  #last: { readonly text: Secret; readonly transport: ClientTransport } | undefined
  readonly #restore: () => void
  #closed: Promise<void> | undefined

  constructor(kc: KubeConfigLike, options: AttachOptions, onClose: () => void) {
    this.#kc = kc
    this.#options = options
    this.#clusters = new OpenClusters(options)
    const restoreMethods = overrideMethods(kc, {
      applySecurityAuthentication: (context) => this.#applyToContext(context),
      applyToHTTPSOptions: (given) => this.#applyToOptions(given),
    })
    const end = (): void => void this.close()
    options.signal?.addEventListener('abort', end, { once: true })
    this.#restore = () => {
      options.signal?.removeEventListener('abort', end)
      restoreMethods()
      onClose()
    }
  }

  /** Whether a second `attach()` with these options may return this attachment; without options it always may. */
  fits(options: AttachOptions): boolean {
    const own = this.#options
    const names = Object.keys({ ...own, ...options }) as (keyof AttachOptions)[]
    return Object.keys(options).length === 0 || names.every((name) => own[name] === options[name])
  }

  status(): AttachmentStatus {
    const transport = this.#findTransport()
    const current = this.#clusters.status(transport?.key)
    return {
      by: transport === undefined ? 'client-node' : 'kubecred',
      ...(current && { current }),
      clusters: this.#clusters.statuses(),
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#restore()
    await this.#clusters.close()
  }

  /** Returns false if client-node is to authenticate the request itself. */
  async #applyToContext(context: RequestContextLike): Promise<boolean> {
    const transport = this.#findTransport()
    if (transport === undefined) return false
    if (context.setDispatcher !== undefined) context.setDispatcher(transport.dispatcher)
    else if (context.setAgent !== undefined) context.setAgent(transport.agent)
    else return false
    if (await isUncompressed(transport, context.getHeaders())) {
      context.setHeaderParam('Accept-Encoding', 'identity')
    }
    return true
  }

  async #applyToOptions(options: HttpsOptionsLike): Promise<boolean> {
    const transport = this.#findTransport()
    if (transport === undefined) return false
    options.agent = transport.agent
    const headers = (options.headers ?? {}) as Record<string, unknown>
    if (await isUncompressed(transport, headers)) {
      options.headers = { ...headers, 'Accept-Encoding': 'identity' }
    }
    return true
  }

  /** Returns the transport of the current context, or undefined if client-node sends its requests itself. */
  #findTransport(): ClientTransport | undefined {
    try {
      const user = this.#kc.getCurrentUser()
      const isOwn = this.#options.vault === undefined
      if (isOwn && user !== null && usesOtherAuthenticator(this.#kc, user)) return undefined
      return this.#transportFor(describeSelection(this.#kc))
    } catch (error) {
      return failingTransport(error)
    }
  }

  /** Compares the whole selection for every request, because programs change it; nearly always it is the same. */
  #transportFor(text: string): ClientTransport {
    if (this.#last?.text.expose() === text) return this.#last.transport
    const selection = parseSelection(text)
    const transport = this.#transports.get(selection.key) ?? this.#makeTransport(selection)
    this.#last = { text: new Secret(text), transport }
    return transport
  }

  #makeTransport(selection: Selection): ClientTransport {
    const transport = makeTransport(selection, this.#clusters)
    const [oldest] = this.#transports.keys()
    if (oldest !== undefined && this.#transports.size >= MAX_TRANSPORTS)
      this.#transports.delete(oldest)
    this.#transports.set(transport.key, transport)
    return transport
  }
}

/** Whether to disable compression as the kubeconfig says: by default, client-node's fetch requests it. */
async function isUncompressed(
  transport: ClientTransport,
  headers: Record<string, unknown>,
): Promise<boolean> {
  const connection = await transport.connection()
  if (connection?.cluster.disableCompression !== true) return false
  return !Object.keys(headers).some((name) => name.toLowerCase() === 'accept-encoding')
}

/** Replacements of client-node's methods; each returns false if the original must be called. */
interface Overrides {
  applySecurityAuthentication(context: RequestContextLike): Promise<boolean>
  applyToHTTPSOptions(options: HttpsOptionsLike): Promise<boolean>
}

/** Replaces the two methods of a KubeConfig that every request uses. Returns a function that restores them. */
function overrideMethods(kc: KubeConfigLike, overrides: Overrides): () => void {
  const undos = [
    override(kc, 'applySecurityAuthentication', overrides),
    override(kc, 'applyToHTTPSOptions', overrides),
  ]
  return () => {
    for (const undo of undos) undo()
  }
}

type Name = keyof Overrides
type Method = (argument: RequestContextLike & HttpsOptionsLike) => Promise<unknown>

function override(kc: KubeConfigLike, name: Name, overrides: Overrides): () => void {
  const before = Object.getOwnPropertyDescriptor(kc, name)
  const original = kc[name] as Method
  const ours = overrides[name] as Method
  let isUndone = false
  const method: Method = async (argument) => {
    if (isUndone || !(await ours(argument))) await original.call(kc, argument)
  }
  Object.defineProperty(kc, name, { value: method, configurable: true, writable: true })
  return () => {
    isUndone = true
    // Another program may have replaced the method again, and call ours from there.
    if ((kc[name] as Method) !== method) return
    if (before === undefined) delete (kc as Partial<KubeConfigLike>)[name]
    else Object.defineProperty(kc, name, before)
  }
}
