import type { ClusterStatus } from '../../connect/cluster.ts'
import {
  describeSelection,
  isForeign,
  parseSelection,
  type Selection,
} from '../../logins/kube-config-object.ts'
import { Secret } from '../../secret/secret.ts'
import { MADE_BY, VERSION } from '../../version.ts'
import type {
  AttachOptions,
  HttpsOptionsLike,
  KubeConfigLike,
  RequestContextLike,
} from './attach-options.ts'
import { type ContextTransport, failingTransport, makeTransport } from './client-transport.ts'
import { OpenClusters } from './open-clusters.ts'

/** How an attached KubeConfig is doing, as plain data without secrets. */
export interface AttachmentStatus {
  /** Who authenticates the current user: client-node itself where its method is none of ours. */
  readonly by: 'kubecred' | 'client-node'
  /** The connection that requests use now; absent before the first request. */
  readonly current?: ClusterStatus
  /** All that are open, those of earlier selections too. */
  readonly clusters: readonly ClusterStatus[]
}

/** The bond between a KubeConfig and our credentials. Made by `attach()`. */
export interface Attachment extends AsyncDisposable {
  /** How it is doing: plain data, no secrets. */
  status(): AttachmentStatus
  /**
   * Gives the KubeConfig back as it was, and ends every connection: requests in flight fail.
   * Later requests are client-node's own again.
   */
  close(): Promise<void>
}

/** How many ways are remembered. A forgotten one goes on working. */
const MOST_WAYS = 16

export class KubeConfigAttachment implements Attachment {
  readonly [MADE_BY]: string = VERSION
  readonly #kc: KubeConfigLike
  readonly #options: AttachOptions
  readonly #clusters: OpenClusters
  readonly #transports = new Map<string, ContextTransport>()
  #last: { readonly text: Secret; readonly transport: ContextTransport } | undefined
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

  /** Whether somebody who attaches with these would get the same. Without any they take what there is. */
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

  /** Returns whether it was ours to do. */
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

  /** The transport of requests that begin now, or undefined where they are client-node's own. */
  #findTransport(): ContextTransport | undefined {
    try {
      const user = this.#kc.getCurrentUser()
      const isOwn = this.#options.vault === undefined
      if (isOwn && user !== null && isForeign(this.#kc, user)) return undefined
      return this.#wayFor(describeSelection(this.#kc))
    } catch (error) {
      return failingTransport(error)
    }
  }

  /** Looks at everything for every request, because programs change it; nearly always it is what it was. */
  #wayFor(text: string): ContextTransport {
    if (this.#last?.text.expose() === text) return this.#last.transport
    const selection = parseSelection(text)
    const transport = this.#transports.get(selection.key) ?? this.#makeTransport(selection)
    this.#last = { text: new Secret(text), transport }
    return transport
  }

  #makeTransport(selection: Selection): ContextTransport {
    const transport = makeTransport(selection, this.#clusters)
    const [oldest] = this.#transports.keys()
    if (oldest !== undefined && this.#transports.size >= MOST_WAYS) this.#transports.delete(oldest)
    this.#transports.set(transport.key, transport)
    return transport
  }
}

/** The kubeconfig says not to compress, and client-node's fetch would ask for it unless told otherwise. */
async function isUncompressed(
  transport: ContextTransport,
  headers: Record<string, unknown>,
): Promise<boolean> {
  const connection = await transport.connection()
  if (connection?.cluster.disableCompression !== true) return false
  return !Object.keys(headers).some((name) => name.toLowerCase() === 'accept-encoding')
}

/** What to do in place of client-node; each says whether it did it. */
interface Overrides {
  applySecurityAuthentication(context: RequestContextLike): Promise<boolean>
  applyToHTTPSOptions(options: HttpsOptionsLike): Promise<boolean>
}

/** Replaces the two methods of one KubeConfig through which every request passes. Returns how to undo it. */
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
    // Somebody may have put something of theirs over ours, which still calls it.
    if ((kc[name] as Method) !== method) return
    if (before === undefined) delete (kc as Partial<KubeConfigLike>)[name]
    else Object.defineProperty(kc, name, before)
  }
}
