import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Server as TlsServer } from 'node:tls'
import type { UnexpectedError } from '../errors/index.ts'
import { reportUnexpected } from '../keeper/observers.ts'
import { type HasLine, type Line, lineOf } from '../request/line.ts'
import { Secret } from '../secret/secret.ts'
import { type Admitted, type Arrival, type Guard, isAnswer, makeGuard } from './admit-request.ts'
import { Connections } from './connections.ts'
import { type Errand, forward, forwardUpgrade } from './forward.ts'
import { applyLimits, type ProxyLimits, readLimits } from './limits.ts'
import {
  internalError,
  refuseBytes,
  refuseRequest,
  refuseSocket,
  type StatusAnswer,
} from './reject-request.ts'
import { type RecordOptions, RequestRecord, type RequestSummary } from './request-record.ts'
import { DEFAULT_RULES, type ProxyRules } from './rules.ts'

export interface ProxyOptions {
  /** Where requests go, and with whose credential. */
  readonly cluster: HasLine
  /** Hosts that a request may name, as in its Host header: `127.0.0.1:8001`. `any` is for unix sockets only. */
  readonly hosts: readonly string[] | 'any'
  /** What a client must send as `Authorization: Bearer …`. Leave it out for unix sockets only. */
  readonly secret?: string | undefined
  /** What may pass; unless told, what `kubectl proxy` lets pass. */
  readonly rules?: ProxyRules | undefined
  /** Below which path the API is; `/` unless told. */
  readonly prefix?: string | undefined
  readonly limits?: ProxyLimits | undefined
  /** Told about every request when its answer begins. */
  readonly onRequest?: ((note: RequestSummary) => void) | undefined
  /**
   * Called for every error that should not happen, with the id that the client gets: by default, the first one
   * with each id is a process warning. The observer of the cluster gets all of them as events.
   */
  readonly onError?: ((error: UnexpectedError) => void) | undefined
}

export interface CloseOptions {
  /** How long what is under way may take to finish; 5 s unless told. */
  readonly graceMs?: number
}

const GRACE_MS = 5_000

/**
 * Lets clients on this machine use a cluster without its credential.
 *
 * Every request is checked before anything is sent, also those that ask for another protocol: Host, Origin,
 * secret, path, rules, impersonation. What a client says about who it is never reaches the server.
 */
export class ClusterProxy {
  readonly #line: Line
  readonly #guard: Guard
  readonly #limits: Required<ProxyLimits>
  readonly #visits: RecordOptions
  readonly #onError: (error: UnexpectedError) => void
  readonly #secrets: readonly Secret[]
  readonly #connections: Connections
  readonly #servers = new Set<Server>()
  #isClosing = false
  #whenDone: (() => void) | undefined

  constructor(options: ProxyOptions) {
    this.#line = lineOf(options.cluster, 'Proxy')
    this.#limits = readLimits(options.limits)
    const secret = readSecret(options)
    this.#secrets = secret === undefined ? [] : [new Secret(secret)]
    this.#guard = makeGuard({
      hosts: readHosts(options.hosts),
      secret,
      rules: options.rules ?? DEFAULT_RULES,
      prefix: readPrefix(options.prefix),
    })
    this.#onError = options.onError ?? warnOnce()
    this.#visits = { listener: options.onRequest, onThrown: this.#report }
    this.#connections = new Connections(this.#limits.connections, () => this.#whenDone?.())
  }

  /** How many requests and upgrades are under way. */
  get open(): number {
    return this.#connections.open
  }

  /**
   * Serves the requests of a server, made with `serverOptions()`, and sets its limits.
   *
   * Who made it makes it listen; `close()` ends it.
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
    server.on('request', (request, response) => this.#take(request, response))
    server.on('checkContinue', (request, response) => this.#take(request, response, true))
    server.on('checkExpectation', (request, response) => this.#take(request, response, false))
    server.on('upgrade', (request, socket, early) => this.#takeUpgrade(request, socket, early))
    server.on('connect', (request, socket) => this.#takeUpgrade(request, socket, NOTHING))
    server.on('clientError', (error, socket) => {
      // In the middle of an answer, a second one would be taken for a part of the first.
      if (this.#connections.isBusy(socket as Socket)) socket.destroy()
      else refuseBytes(socket, error)
    })
  }

  /**
   * Takes no new connections and requests, lets what is under way finish, and ends what does not. Called again, it
   * waits no longer.
   *
   * @returns When nothing is open any more. The cluster stays open.
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

  #take(request: IncomingMessage, response: ServerResponse, mayContinue?: boolean): void {
    const { socket } = request
    if (!this.#enter(response, socket)) return
    const visit = new RequestRecord(this.#visits, request, { isUpgrade: false })
    response.once('close', () => this.#leave(response, socket))
    const refuse = (answer: StatusAnswer): void => {
      visit.refused(answer.status, answer.why)
      refuseRequest(request, response, answer)
    }
    if (this.#isClosing) {
      response.shouldKeepAlive = false
      refuse(CLOSING)
      return
    }
    const verdict = this.#judge(request, { isUpgrade: false })
    if (isAnswer(verdict)) refuse(verdict)
    else if (mayContinue === false) refuse(ODD_EXPECTATION)
    else {
      if (mayContinue) response.writeContinue()
      void forward(this.#errand(request, verdict, visit, refuse), response)
    }
  }

  #takeUpgrade(request: IncomingMessage, socket: Duplex, early: Buffer): void {
    // The answer to a request before it still owns the connection: a second one cannot be written.
    if (this.#connections.isBusy(socket as Socket)) {
      socket.destroy()
      return
    }
    if (!this.#enter(request, request.socket)) return
    const visit = new RequestRecord(this.#visits, request, { isUpgrade: true })
    const refuse = (answer: StatusAnswer): void => {
      visit.refused(answer.status, answer.why)
      refuseSocket(request, socket, answer)
    }
    const verdict = this.#judge(request, { isUpgrade: true })
    if (this.#isClosing) refuse(CLOSING)
    else if (isAnswer(verdict)) refuse(verdict)
    else void forwardUpgrade(this.#errand(request, verdict, visit, refuse), socket, early)
  }

  #judge(
    { method = '', url = '', rawHeaders }: IncomingMessage,
    { isUpgrade }: Pick<Arrival, 'isUpgrade'>,
  ): Admitted | StatusAnswer {
    try {
      return this.#guard({ method, target: url, rawHeaders, isUpgrade })
    } catch (error) {
      return internalError(this.#report(error))
    }
  }

  readonly #report = (error: unknown): UnexpectedError => {
    const described = reportUnexpected(this.#line.access, error, this.#secrets)
    try {
      this.#onError(described)
    } catch {
      // It cannot be reported to the function that failed to take it; the observer has it.
    }
    return described
  }

  #errand(
    request: IncomingMessage,
    admitted: Admitted,
    visit: RequestRecord,
    refuse: (answer: StatusAnswer) => void,
  ): Errand {
    const gone = this.#connections.signalOf(request.socket)
    const report = this.#report
    return { line: this.#line, request, admitted, gone, visit, refuse, report }
  }

  /** Whether there is room for one more request on its connection; else that has ended. */
  #enter(thing: object, socket: Socket): boolean {
    if (socket.destroyed) return false
    if (this.#connections.begin(socket, thing) <= this.#limits.pipelined) return true
    socket.destroy()
    return false
  }

  #leave(thing: object, socket: Socket): void {
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

/** More different errors than this say nothing new. */
const MAX_WARNINGS = 100

/** Makes a function that writes each error once, as a process warning. */
function warnOnce(): (error: UnexpectedError) => void {
  const known = new Set<string>()
  return ({ id, stack }) => {
    if (known.has(id) || known.size >= MAX_WARNINGS) return
    known.add(id)
    const type = 'KubecredProxyError'
    process.emitWarning(`internal error ${id}`, { type, code: id, detail: stack })
  }
}

const NOTHING = Buffer.alloc(0)

const CLOSING: StatusAnswer = {
  status: 503,
  why: 'the end',
  message: 'the proxy is being shut down. Start it again.',
}

const ODD_EXPECTATION: StatusAnswer = {
  status: 417,
  why: 'the expectation',
  message: 'the header Expect can only say 100-continue. Leave it out.',
}

function readHosts(hosts: readonly string[] | 'any'): readonly string[] | 'any' {
  if (hosts === 'any' || (Array.isArray(hosts) && hosts.length > 0)) return hosts
  throw new TypeError(
    'hosts must be "any" or a list of at least one host, such as "127.0.0.1:8001"',
  )
}

/** A secret that is an empty text by mistake must not open the door. */
function readSecret({ secret, hosts }: ProxyOptions): string | undefined {
  if (secret === undefined && hosts !== 'any') {
    throw new TypeError('secret must be given unless hosts is "any", as for a unix socket')
  }
  if (secret !== undefined && !/^[!-~]{16,}$/.test(secret)) {
    throw new TypeError('secret must be at least 16 characters that can be printed, without spaces')
  }
  return secret
}

function readPrefix(prefix = '/'): string {
  const whole = prefix.endsWith('/') ? prefix : `${prefix}/`
  if (whole === '/' || /^(?:\/[\w~:-][\w.~:-]*)+\/$/.test(whole)) return whole
  throw new TypeError('prefix must be a path, such as "/" or "/cluster/"')
}
