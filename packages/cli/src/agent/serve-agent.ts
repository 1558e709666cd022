import { chmodSync, lstatSync, renameSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { VERSION } from 'kubecred'
import { type Clock, type ExecLimits, systemClock } from 'kubecred/internal'
import { Agent, Asker } from './agent.ts'
import { type AgentPlace, makeFolder } from './agent-paths.ts'
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

export interface ServeOptions {
  readonly clock?: Clock
  /** How long nobody may have asked before the agent ends. */
  readonly idleMs?: number
  /** How often it looks whether its socket is still its own, and what it may forget. */
  readonly lookAgainMs?: number
  /** How long a connection may be silent before its request. */
  readonly silentMs?: number
  readonly limits?: Partial<ExecLimits>
}

const IDLE_MS = 30 * 60_000
const LOOK_AGAIN_MS = 5000
const SILENT_MS = 5000
/** Connections that have not said anything yet; when there are more, the oldest goes. */
const MOST_SILENT = 128

/** An agent that listens. */
export interface ServedAgent {
  /** Resolves when it has ended, with the reason in words. */
  readonly ended: Promise<string>
  stop(reason?: string): void
}

/**
 * Listens for those who ask, until nobody does any more, somebody says stop, or another agent takes the place.
 *
 * The socket is made under another name and then moved to its place: whoever finds it can use it, and a dead
 * one that was there before is replaced without a moment in between.
 *
 * @throws {AgentUnusableError}
 */
export async function serveAgent(
  place: AgentPlace,
  options: ServeOptions = {},
): Promise<ServedAgent> {
  const { clock = systemClock, idleMs = IDLE_MS, lookAgainMs = LOOK_AGAIN_MS } = options
  makeFolder(place)
  const agent = new Agent({
    clock,
    limits: { ...PLUGIN_LIMITS, ...options.limits },
  })
  const startedAt = clock.now()
  let askedAt = startedAt
  const sockets = new Set<Socket>()
  const silent = new SilentOnes(options.silentMs ?? SILENT_MS)
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
        stop: () => stop('somebody told it to'),
        touch: () => {
          askedAt = clock.now()
        },
      },
      silent.add(socket),
    )
  })
  const inode = await listen(server, place)
  let onEnd: (reason: string) => void = () => {}
  const ended = new Promise<string>((resolve) => {
    onEnd = resolve
  })
  const looking = setInterval(() => {
    const now = clock.now()
    agent.sweep(now - idleMs)
    if (inodeOf(place.socket) !== inode) return stop('another agent has taken its place')
    const isUsed = agent.isLocked || agent.status().some(({ waiting }) => waiting > 0)
    if (!isUsed && now - askedAt >= idleMs) stop('nobody has asked for a long time')
  }, lookAgainMs)
  const stop = (reason = 'it was stopped'): void => {
    clearInterval(looking)
    agent.forget()
    if (inodeOf(place.socket) === inode) rmSync(place.socket, { force: true })
    server.close(() => onEnd(reason))
    // What was answered still goes out; who waits is told by the end of the connection.
    for (const socket of sockets) socket.destroySoon()
  }
  return { ended, stop }
}

async function listen(server: Server, { folder, socket }: AgentPlace): Promise<number | undefined> {
  // Shorter than the final name, so that it fits where that one does.
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

/** Connections that have not said anything yet: not too many, and not for long. */
class SilentOnes {
  readonly #sockets = new Map<Socket, NodeJS.Timeout>()
  readonly #longestMs: number

  constructor(longestMs: number) {
    this.#longestMs = longestMs
  }

  /** Returns what to call when it speaks. */
  add(socket: Socket): () => void {
    const timer = setTimeout(() => socket.destroy(), this.#longestMs)
    const leave = (): void => {
      clearTimeout(timer)
      this.#sockets.delete(socket)
    }
    this.#sockets.set(socket, timer)
    socket.once('close', leave)
    const [oldest] = this.#sockets.keys()
    if (this.#sockets.size > MOST_SILENT) oldest?.destroy()
    return leave
  }
}

/** What a connection may do beside asking for a credential. */
export interface Housekeeping {
  readonly agent: Agent
  status(): AgentStatus
  stop(): void
  /** Somebody asked for a credential: the agent is in use. */
  touch(): void
}

/** What became of a connection's first line: until then it is only somebody who is there. */
export type OnSpoken = () => void

/** Serves one connection: one request, and for a `get` what belongs to it. */
export function converse(socket: Socket, keeping: Housekeeping, onSpoken: OnSpoken): void {
  let asker: Asker | undefined
  const finish = (answer: Answer): void => {
    writeFrame(socket, answer)
    socket.end()
  }
  socket.on('error', () => {
    // Whoever left did so for reasons of their own; `close` comes next.
  })
  socket.on('close', () => asker?.leave())
  readFrames(socket, {
    onTooLong: () => refuse(socket, 'the request is too long'),
    onFrame: (text) => {
      const request = decodeRequest(text)
      if (request === undefined) return refuse(socket, 'the request cannot be understood')
      if (request.do === 'deposit') return asker?.deposit(request.outcome)
      if (asker !== undefined) return refuse(socket, 'a connection has one request')
      onSpoken()
      if (request.do === 'look') return finish(lookFor(request, keeping.agent))
      if (request.do !== 'get') return finish(perform(request, keeping))
      keeping.touch()
      asker = new Asker(request, (answer) => writeFrame(socket, answer))
      void keeping.agent.get(asker).then(finish)
    },
  })
}

/** An exec info that is none belongs to nobody. */
function lookFor(request: LookRequest, agent: Agent): Answer {
  try {
    return { is: 'seen', entry: agent.look(request) }
  } catch {
    return { is: 'seen' }
  }
}

function perform(
  { do: wanted }: PlainRequest,
  { agent, status, stop, touch }: Housekeeping,
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
      // Whoever unlocks it is about to use it: the time it was locked is not time without use.
      touch()
      break
    case 'stop':
      // The answer first.
      setImmediate(stop)
      break
  }
  return { is: 'done' }
}

function refuse(socket: Socket, message: string): void {
  const failed: Failed = {
    is: 'failed',
    code: 'ERR_AGENT_UNUSABLE',
    message: `the agent refused: ${message}`,
    hint: 'Use kubecred-token of the same version as the agent.',
    exit: 93,
  }
  writeFrame(socket, failed)
  socket.destroySoon()
}
