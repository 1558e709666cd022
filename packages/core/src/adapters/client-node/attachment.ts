import type { ClusterStatus } from '../../connect/cluster.ts'
import {
  describeSelection,
  parseSelection,
  type Selection,
  usesOtherAuthenticator,
} from '../../logins/kube-config-object.ts'
import { lackOf } from '../../node/runtime.ts'
import { Secret } from '../../secret/secret.ts'
import { MADE_BY, VERSION } from '../../version.ts'
import type {
  AttachOptions,
  HttpsOptionsLike,
  KubeConfigLike,
  RequestContextLike,
} from './attach-options.ts'
import { type ClientTransport, failingTransport, makeTransport } from './client-transport.ts'
import { type FindTransport, type HttpLibrary, LineHttpLibrary } from './http-library.ts'
import { OpenClusters } from './open-clusters.ts'
import { overrideMethod } from './override-method.ts'

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

/** Replaces three methods of a KubeConfig, and sends its requests over our clusters. */
export class KubeConfigAttachment implements Attachment {
  readonly [MADE_BY]: string = VERSION
  readonly #kc: KubeConfigLike
  readonly #options: AttachOptions
  readonly #clusters: OpenClusters
  readonly #transports = new Map<string, ClientTransport>()
  /** The transports by their agent and dispatcher: one of them says which transport authenticated a request. */
  readonly #byMeans = new WeakMap<object, ClientTransport>()
  #last: { readonly text: Secret; readonly transport: ClientTransport } | undefined
  readonly #restore: () => void
  #closed: Promise<void> | undefined

  constructor(kc: KubeConfigLike, options: AttachOptions, onClose: () => void) {
    this.#kc = kc
    this.#options = options
    this.#clusters = new OpenClusters(options)
    const restoreMethods = this.#overrideMethods(kc)
    const end = (): void => void this.close()
    options.signal?.addEventListener('abort', end, { once: true })
    this.#restore = () => {
      options.signal?.removeEventListener('abort', end)
      for (const restoreMethod of restoreMethods) restoreMethod()
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

  /** Replaces the methods that requests and API clients are made with. Returns functions that restore them. */
  #overrideMethods(kc: KubeConfigLike): (() => void)[] {
    const lack = lackOf('agents of fetch')
    const refuse = async (): Promise<never> => Promise.reject(lack)
    let authenticate: Authenticator['applySecurityAuthentication'] = refuse
    const undos = [
      overrideMethod(kc, 'applySecurityAuthentication', (original) => {
        authenticate = async (context) => {
          if (!(await this.#applyToContext(context))) await original(context)
        }
        return lack === undefined ? authenticate : refuse
      }),
      overrideMethod(kc, 'applyToHTTPSOptions', (original) => async (options) => {
        if (!(await this.#applyToOptions(options))) await original(options)
      }),
    ]
    if (lack !== undefined && hasFetchOptions(kc)) {
      undos.push(
        overrideMethod(
          kc,
          'applyToFetchOptions',
          (original) => async (options) =>
            Object.defineProperty(await original(options), 'tls', { get: () => raise(lack) }),
        ),
      )
    }
    if (!isApiMaker(kc)) return undos
    const find: FindTransport = (request) => {
      const means = request.getDispatcher?.() ?? request.getAgent?.()
      return means && this.#byMeans.get(means)
    }
    // Where the fetch of client-node cannot be used, only clients that do not need it are authenticated.
    const own = lack && { authMethods: { default: { applySecurityAuthentication: authenticate } } }
    return [
      ...undos,
      overrideMethod(
        kc as ApiMaker,
        'makeApiClient',
        (original) => (type) => original(withLineLibrary(type, find, own)),
      ),
    ]
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
    this.#byMeans.set(transport.agent, transport).set(transport.dispatcher, transport)
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

/** A class of generated APIs. */
type ApiClass = new (configuration: ApiConfiguration) => object

interface ApiConfiguration {
  readonly httpApi: HttpLibrary
}

/** A KubeConfig that makes API clients; the public type leaves the method out, because its type differs by version. */
interface ApiMaker {
  makeApiClient(type: ApiClass): object
}

/** Whether `makeApiClient` is client-node's own. A program's own one may have an HTTP library that must stay. */
function isApiMaker(kc: object): kc is ApiMaker {
  const owner = ownerOf(kc, 'makeApiClient')
  return owner !== null && owner === ownerOf(kc, 'getCurrentCluster')
}

function ownerOf(object: object, name: string): object | null {
  let owner: object | null = object
  while (owner !== null && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner)
  return owner
}

/** Makes the instances of a class of APIs send their requests with our library. */
function withLineLibrary(type: ApiClass, find: FindTransport, own: object | undefined): ApiClass {
  return new Proxy(type, {
    construct: (_, [given]: [ApiConfiguration]) =>
      new type({ ...given, ...own, httpApi: new LineHttpLibrary(given.httpApi, find) }),
  })
}

type Authenticator = Pick<KubeConfigLike, 'applySecurityAuthentication'>

/** A KubeConfig of 1.x, whose watches and logs use this method outside of any `try`, and then fetch inside of one. */
interface HasFetchOptions {
  applyToFetchOptions(options: object): Promise<object>
}

function hasFetchOptions(kc: object): kc is HasFetchOptions {
  return 'applyToFetchOptions' in kc
}

function raise(error: Error): never {
  throw error
}
