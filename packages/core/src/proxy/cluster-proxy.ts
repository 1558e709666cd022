import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Server as TlsServer } from 'node:tls'
import type { UnexpectedError } from '../errors/index.ts'
import { reportUnexpected } from '../keeper/observers.ts'
import { type Line, lineOf } from '../request/line.ts'
import type { Secret } from '../secret/secret.ts'
import {
  type AdmittedRequest,
  createGuard,
  type Guard,
  isRejection,
  type UncheckedRequest,
  type Verdict,
} from './admit-request.ts'
import { Connections } from './connections.ts'
import { type ForwardContext, forward, forwardUpgrade } from './forward.ts'
import { applyLimits, type ProxyLimits, readLimits } from './limits.ts'
import {
  checkSecret,
  type ProxyOptions,
  readAuthentication,
  readHosts,
  readImpersonation,
  readPrefix,
} from './proxy-options.ts'
import {
  internalError,
  rejectMalformed,
  rejectRequest,
  rejectUpgrade,
  type StatusResponse,
} from './reject-request.ts'
import { type RecordOptions, RequestRecord, recordMalformed } from './request-record.ts'
import { DEFAULT_RULES } from './rules.ts'

/** Options of `ClusterProxy.close`. */
export interface CloseOptions {
  /** How long requests in flight may take to finish; by default 5 s. */
  readonly graceMs?: number
}

const GRACE_MS = 5_000

/**
 * Forwards HTTP requests of local clients to a cluster, with the cluster's credential.
 *
 * Every request, including upgrades, is checked before anything is sent: Host, Origin, secret, path, rules,
 * impersonation. Credentials that a client sends never reach the server.
 *
 * @example
 * const secret = randomBytes(32).toString('base64url')
 * const proxy = new ClusterProxy({ cluster, hosts: ['127.0.0.1:8001'], secret })
 * const server = createServer(serverOptions())
 * proxy.serve(server)
 * server.listen(8001, '127.0.0.1')
 */
export class ClusterProxy {
  readonly #line: Line
  readonly #guard: Guard
  readonly #limits: Required<ProxyLimits>
  readonly #recordOptions: RecordOptions
  readonly #onError: (error: UnexpectedError) => void
  readonly #isImpersonating: boolean
  #secrets: readonly Secret[]
  readonly #connections: Connections
  readonly #servers = new Set<Server>()
  #isDraining = false
  #isClosing = false
  #whenDone: (() => void) | undefined

  /** @throws {TypeError} If an option is invalid; the message names it. */
  constructor(options: ProxyOptions) {
    this.#line = lineOf(options.cluster, 'ClusterProxy')
    this.#limits = readLimits(options.limits)
    this.#secrets = options.secret === undefined ? [] : [checkSecret(options.secret)]
    this.#isImpersonating = readImpersonation(options, this.#line)
    this.#guard = createGuard({
      hosts: readHosts(options.hosts),
      authenticate: readAuthentication(options, () => this.#secrets),
      rules: options.rules ?? DEFAULT_RULES,
      prefix: readPrefix(options.prefix),
    })
    this.#onError = options.onError ?? warnOnce()
    const { onRequest, onRequestEnd } = options
    this.#recordOptions = { onRequest, onRequestEnd, onThrown: this.#report }
    this.#connections = new Connections(this.#limits.connections, () => this.#whenDone?.())
  }

  /** The number of requests and upgraded connections in flight. */
  get open(): number {
    return this.#connections.open
  }

  /**
   * Handles the requests of a server that was created with `serverOptions()`, and sets its limits.
   *
   * The caller makes the server listen; `close()` closes it.
   */
  serve(server: Server): void {
    applyLimits(server, this.#limits)
    this.#servers.add(server)
    if (server instanceof TlsServer) {
      server.on('connection', (socket) => this.#connections.addRaw(socket))
      server.on('secureConnection', (socket) => this.#connections.secured(socket))
    } else {
      server.on('connection', (socket) => this.#connections.add(socket))
    }
    server.on('request', (request, response) => this.#handleRequest(request, response))
    server.on('checkContinue', (request, response) => this.#handleRequest(request, response, true))
    server.on('checkExpectation', (request, response) =>
      this.#handleRequest(request, response, false),
    )
    server.on('upgrade', (request, socket, early) => this.#handleUpgrade(request, socket, early))
    server.on('connect', (request, socket) => this.#handleUpgrade(request, socket, NOTHING))
    server.on('clientError', (error, socket) => {
      // A second response would be read as a part of the first.
      if (this.#connections.isBusy(socket as Socket)) socket.destroy()
      else {
        const rejection = rejectMalformed(socket, error)
        if (rejection !== undefined) recordMalformed(this.#recordOptions, socket, rejection)
      }
    })
  }

  /**
   * Replaces the secret. From now on, requests need one of these; those in flight finish.
   *
   * With two, clients can change from the old one to the new one.
   *
   * @throws {TypeError} If there is none, or one is invalid, or the proxy was created without a secret.
   */
  replaceSecrets(secrets: readonly string[]): void {
    if (this.#secrets.length === 0) throw new TypeError('this proxy was created without a secret')
    if (secrets.length === 0) throw new TypeError('at least one secret is required')
    this.#secrets = secrets.map(checkSecret)
  }

  /**
   * Prepares for `close()`: requests are still served, but each response closes its connection.
   *
   * Clients that keep their connections open then connect again, and a load balancer can send them elsewhere.
   */
  drain(): void {
    this.#isDraining = true
  }

  /**
   * Accepts no new connections and requests, waits for those in flight, and cuts off what does not finish in time.
   * A second call ends the wait.
   *
   * @returns A promise that resolves when everything is closed. The cluster stays open.
   */
  async close({ graceMs = GRACE_MS }: CloseOptions = {}): Promise<void> {
    this.#isClosing = true
    this.#whenDone?.()
    const closed = [...this.#servers].map(
      (server) => new Promise<void>((resolve) => void server.close(() => resolve())),
    )
    this.#connections.closeIdle()
    if (this.open > 0) await this.#finish(graceMs)
    this.#connections.destroy()
    await Promise.all(closed)
  }

  #handleRequest(request: IncomingMessage, response: ServerResponse, mayContinue?: boolean): void {
    const { socket } = request
    if (!this.#begin(response, socket)) return
    const record = new RequestRecord(this.#recordOptions, request, { isUpgrade: false })
    response.once('close', () => {
      record.ended()
      this.#end(response, socket)
    })
    const reject = (rejection: StatusResponse): void => {
      record.rejected(rejection)
      this.#connections.reject(socket, response)
      rejectRequest(request, response, rejection)
    }
    if (this.#isDraining || this.#isClosing) response.shouldKeepAlive = false
    if (this.#isClosing) {
      reject(CLOSING)
      return
    }
    this.#check(request, { isUpgrade: false }, record, (verdict) => {
      if (isRejection(verdict)) reject(verdict)
      else if (mayContinue === false) reject(UNSUPPORTED_EXPECTATION)
      else {
        if (mayContinue) response.writeContinue()
        void forward(this.#contextOf(request, verdict, record, reject), response)
      }
    })
  }

  #handleUpgrade(request: IncomingMessage, socket: Duplex, early: Buffer): void {
    // The response to an earlier request still owns the connection: another one cannot be written.
    if (this.#connections.isBusy(socket as Socket)) {
      socket.destroy()
      return
    }
    if (!this.#begin(request, request.socket)) return
    const record = new RequestRecord(this.#recordOptions, request, { isUpgrade: true })
    socket.once('close', () => record.ended())
    const reject = (rejection: StatusResponse): void => {
      record.rejected(rejection)
      this.#connections.reject(request.socket, request)
      rejectUpgrade(request, socket, rejection)
    }
    this.#check(request, { isUpgrade: true }, record, (verdict) => {
      if (this.#isClosing) reject(CLOSING)
      else if (isRejection(verdict)) reject(verdict)
      else void forwardUpgrade(this.#contextOf(request, verdict, record, reject), socket, early)
    })
  }

  /**
   * Checks a request. Calls `decide` at once, unless the caller's token must be reviewed first; then the client may
   * have disconnected.
   */
  #check(
    { method = '', url = '', rawHeaders }: IncomingMessage,
    { isUpgrade }: Pick<UncheckedRequest, 'isUpgrade'>,
    record: RequestRecord,
    decide: (verdict: Verdict) => void,
  ): void {
    const proceed = (verdict: Verdict): void => {
      record.caller = verdict.caller?.user
      decide(verdict)
    }
    const fail = (error: unknown): void => proceed(internalError(this.#report(error)))
    let verdict: Verdict | Promise<Verdict>
    try {
      verdict = this.#guard({ method, target: url, rawHeaders, isUpgrade })
    } catch (error) {
      fail(error)
      return
    }
    if (verdict instanceof Promise) verdict.then(proceed, fail)
    else proceed(verdict)
  }

  readonly #report = (error: unknown): UnexpectedError => {
    const described = reportUnexpected(this.#line.access, error, this.#secrets)
    try {
      this.#onError(described)
    } catch {
      // An error of `onError` has no other place to go; the observer has received the first one.
    }
    return described
  }

  #contextOf(
    request: IncomingMessage,
    admitted: AdmittedRequest,
    record: RequestRecord,
    reject: (rejection: StatusResponse) => void,
  ): ForwardContext {
    const gone = this.#connections.signalOf(request.socket)
    const report = this.#report
    const isImpersonating = this.#isImpersonating
    return { line: this.#line, request, admitted, isImpersonating, gone, record, reject, report }
  }

  /** Counts a request. Returns false, and closes the connection, if it has too many. */
  #begin(thing: object, socket: Socket): boolean {
    if (socket.destroyed) return false
    if (this.#connections.begin(socket, thing) <= this.#limits.pipelined) return true
    socket.destroy()
    return false
  }

  #end(thing: object, socket: Socket): void {
    this.#connections.end(socket, thing)
    if (this.#isClosing && !this.#connections.isBusy(socket)) socket.destroySoon()
  }

  async #finish(graceMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#whenDone = resolve
      timer = setTimeout(resolve, graceMs)
    })
    clearTimeout(timer)
  }
}

/** Limits memory and output if ever more different errors occur. */
const MAX_WARNINGS = 100

/** Creates a function that emits each error once as a process warning. */
function warnOnce(): (error: UnexpectedError) => void {
  const known = new Set<string>()
  return ({ id, message, stack }) => {
    if (known.has(id) || known.size >= MAX_WARNINGS) return
    known.add(id)
    const type = 'KubecredProxyError'
    process.emitWarning(`internal error: ${message}`, { type, code: id, detail: stack })
  }
}

const NOTHING = Buffer.alloc(0)

const CLOSING: StatusResponse = {
  status: 503,
  why: 'the end',
  message: 'the proxy is shutting down. Start it again.',
}

const UNSUPPORTED_EXPECTATION: StatusResponse = {
  status: 417,
  why: 'the expectation',
  message: 'the only supported value of the Expect header is 100-continue. Remove the header.',
}
