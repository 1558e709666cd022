import { chmodSync, lstatSync, renameSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { VERSION } from 'kubecred'
import { type Clock, type ExecLimits, systemClock } from 'kubecred/internal'
import { Agent, Requester } from './agent.ts'
import { type AgentPaths, makeFolder } from './agent-paths.ts'
import {
  type AgentStatus,
  type Answer,
  decodeRequest,
  type Failed,
  type LookRequest,
  type PlainRequest,
  readFrames,
  writeFrame,
} from './protocol.ts'
import { PLUGIN_LIMITS } from './run-plugin.ts'

/** Options of {@link serveAgent}. */
export interface ServeOptions {
  readonly clock?: Clock
  /** The agent ends after this time without a request; credentials unused for this time are dropped. */
  readonly idleMs?: number
  /** Interval at which it checks that the socket is still its own, and drops unused credentials. */
  readonly checkIntervalMs?: number
  /** Time that a connection has to send its request. */
  readonly requestTimeoutMs?: number
  readonly limits?: Partial<ExecLimits>
}

const IDLE_MS = 30 * 60_000
const CHECK_INTERVAL_MS = 5000
const REQUEST_TIMEOUT_MS = 5000
/** Maximum number of connections without a request; beyond it the oldest is closed. */
const MAX_PENDING = 128

/** A listening agent. */
export interface ServedAgent {
  /** Resolves to the reason when the agent has ended. */
  readonly ended: Promise<string>
  stop(reason?: string): void
}

/**
 * Serves the agent's socket until it is idle, it is stopped, or another agent replaces the socket.
 *
 * The socket is created under a temporary name and then renamed: a client that finds it can connect at once, and a dead
 * one that was there before is replaced atomically.
 *
 * @throws {AgentUnusableError} If the folder is not safe.
 */
export async function serveAgent(
  paths: AgentPaths,
  options: ServeOptions = {},
): Promise<ServedAgent> {
  const { clock = systemClock, idleMs = IDLE_MS, checkIntervalMs = CHECK_INTERVAL_MS } = options
  makeFolder(paths)
  const agent = new Agent({
    clock,
    limits: { ...PLUGIN_LIMITS, ...options.limits },
  })
  const startedAt = clock.now()
  let askedAt = startedAt
  const sockets = new Set<Socket>()
  const pending = new PendingConnections(options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS)
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    converse(
      socket,
      {
        agent,
        status: () => ({
          pid: process.pid,
          version: VERSION,
          startedAt,
          isLocked: agent.isLocked,
          entries: agent.status(),
        }),
        stop: () => stop('it was stopped by kubecred agent stop'),
        touch: () => {
          askedAt = clock.now()
        },
      },
      pending.add(socket),
    )
  })
  const inode = await listen(server, paths)
  let onEnd: (reason: string) => void = () => {}
  const ended = new Promise<string>((resolve) => {
    onEnd = resolve
  })
  const checking = setInterval(() => {
    const now = clock.now()
    // As in `sweep`: the clock may have been set back.
    askedAt = Math.min(askedAt, now)
    agent.sweep(now, idleMs)
    if (inodeOf(paths.socket) !== inode) return stop('another agent has replaced its socket')
    const isUsed = agent.isLocked || agent.status().some(({ waiting }) => waiting > 0)
    if (!isUsed && now - askedAt >= idleMs) stop('it was idle')
  }, checkIntervalMs)
  const stop = (reason = 'it was stopped'): void => {
    clearInterval(checking)
    agent.forget()
    if (inodeOf(paths.socket) === inode) rmSync(paths.socket, { force: true })
    server.close(() => onEnd(reason))
    // Pending answers are still sent; waiting clients see the connection close.
    for (const socket of sockets) socket.destroySoon()
  }
  return { ended, stop }
}

async function listen(server: Server, { folder, socket }: AgentPaths): Promise<number | undefined> {
  // Shorter than the final name, so that it stays within the limit for socket paths.
  const temporary = join(folder, `a${process.pid}`)
  rmSync(temporary, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(temporary, resolve)
  })
  chmodSync(temporary, 0o600)
  renameSync(temporary, socket)
  return inodeOf(socket)
}

function inodeOf(path: string): number | undefined {
  try {
    return lstatSync(path).ino
  } catch {
    return undefined
  }
}

/** Limits the number and the age of connections that have not sent a request. */
class PendingConnections {
  readonly #sockets = new Map<Socket, NodeJS.Timeout>()
  readonly #timeoutMs: number

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** Returns the function to call when the connection has sent its request. */
  add(socket: Socket): () => void {
    const timer = setTimeout(() => socket.destroy(), this.#timeoutMs)
    const leave = (): void => {
      clearTimeout(timer)
      this.#sockets.delete(socket)
    }
    this.#sockets.set(socket, timer)
    socket.once('close', leave)
    const [oldest] = this.#sockets.keys()
    if (this.#sockets.size > MAX_PENDING) oldest?.destroy()
    return leave
  }
}

/** What the requests of a connection act on. */
export interface AgentControls {
  readonly agent: Agent
  status(): AgentStatus
  stop(): void
  /** Records that the agent is in use. */
  touch(): void
}

/**
 * Serves one connection: one request, and for a `get` the messages that belong to it.
 *
 * @param onRequest Called when the first valid request has arrived.
 */
export function converse(socket: Socket, controls: AgentControls, onRequest: () => void): void {
  let requester: Requester | undefined
  const finish = (answer: Answer): void => {
    writeFrame(socket, answer)
    socket.end()
  }
  socket.on('error', () => {
    // A client may leave at any time; `close` follows.
  })
  socket.on('close', () => requester?.leave())
  readFrames(socket, {
    onTooLong: () => refuse(socket, 'the request is too long'),
    onFrame: (text) => {
      const request = decodeRequest(text)
      if (request === undefined) return refuse(socket, 'the request is malformed')
      if (request.do === 'deposit') return requester?.deposit(request.outcome)
      if (requester !== undefined) return refuse(socket, 'a connection takes only one request')
      onRequest()
      if (request.do === 'look') return finish(lookFor(request, controls.agent))
      if (request.do !== 'get') return finish(perform(request, controls))
      controls.touch()
      requester = new Requester(request, (answer) => writeFrame(socket, answer))
      void controls.agent.get(requester).then(finish)
    },
  })
}

/** A request with invalid exec info has no entry. */
function lookFor(request: LookRequest, agent: Agent): Answer {
  try {
    return { is: 'seen', entry: agent.look(request) }
  } catch {
    return { is: 'seen' }
  }
}

function perform(
  { do: wanted }: PlainRequest,
  { agent, status, stop, touch }: AgentControls,
): Answer {
  switch (wanted) {
    case 'status':
      return { is: 'status', status: status() }
    case 'forget':
      agent.forget()
      break
    case 'lock':
      agent.lock()
      break
    case 'unlock':
      agent.unlock()
      // The time for which the agent was locked does not count as idle.
      touch()
      break
    case 'stop':
      // After the answer has been written.
      setImmediate(stop)
      break
  }
  return { is: 'done' }
}

function refuse(socket: Socket, message: string): void {
  const failed: Failed = {
    is: 'failed',
    code: 'ERR_AGENT_UNUSABLE',
    message: `the agent rejected the request: ${message}`,
    hint: 'Use the kubecred-token of the same version as the agent.',
    exit: 93,
  }
  writeFrame(socket, failed)
  socket.destroySoon()
}
