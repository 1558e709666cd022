import { connect, type Socket } from 'node:net'
import { AgentUnusableError } from 'kubecred/internal'
import { type AgentPaths, checkSocket } from './agent-paths.ts'
import {
  type Answer,
  type DepositedOutcome,
  type Request,
  readFrames,
  writeFrame,
} from './protocol.ts'

/** An answer that ends the conversation. */
export type FinalAnswer = Exclude<Answer, { is: 'stderr' | 'run' }>

/** Callbacks for what the agent sends before its last answer. */
export interface AskListener {
  /** Receives the standard error of the plugin while it runs. */
  onStderr?(text: string): void
  /** Runs the plugin in this process; the outcome is sent to the agent. */
  onRun?(): Promise<DepositedOutcome>
}

/**
 * Sends a request to the agent, if there is one.
 *
 * @returns The last answer; `absent` if nothing listens at the socket, `lost` if the agent went away before it answered.
 * @throws {AgentUnusableError} If the folder or the socket is not safe to use, or the agent is suspended.
 */
export async function askAgent(
  paths: AgentPaths,
  request: Request,
  listener: AskListener = {},
): Promise<FinalAnswer | 'absent' | 'lost'> {
  const waiting = new AbortController()
  const stopChecking = checkRepeatedly(paths, () => {
    waiting.abort(new AgentUnusableError('the agent does not respond', { hint: SILENT_HINT }))
  })
  try {
    return await ask(paths, request, listener, waiting.signal)
  } finally {
    stopChecking()
  }
}

const SILENT_HINT =
  'Continue or end its process, kubecred agent serve, or set KUBECRED_AGENT=off to run without the agent.'

/** How often an agent that has not answered yet is checked, and how long it may take to answer the check. */
const CHECK_EVERY_MS = 3000
const MAX_CHECK_MS = 5000

/**
 * Asks for the status on another connection, again and again: a plugin may take any time, a suspended agent never answers.
 *
 * @returns The function that ends the checks.
 */
function checkRepeatedly(paths: AgentPaths, onSilent: () => void): () => void {
  const over = new AbortController()
  const check = async (): Promise<void> => {
    let isSilent = true
    // Timers run before I/O: if this process was suspended, the answer has arrived but is not read yet.
    const readFirst = (): void => void setImmediate(() => isSilent && onSilent())
    timer = setTimeout(readFirst, MAX_CHECK_MS).unref()
    try {
      // An agent that has ended also ends the connection that waits.
      await ask(paths, { do: 'status' }, {}, over.signal)
    } catch {
      return onSilent()
    }
    isSilent = false
    clearTimeout(timer)
    timer = setTimeout(check, CHECK_EVERY_MS).unref()
  }
  let timer: NodeJS.Timeout = setTimeout(check, CHECK_EVERY_MS).unref()
  return () => {
    over.abort()
    clearTimeout(timer)
  }
}

/** The kernel's queue of pending connections is full, which passes. */
const BUSY_PAUSE_MS = 50
const MAX_TRIES = 100

async function ask(
  paths: AgentPaths,
  request: Request,
  listener: AskListener,
  signal: AbortSignal,
): Promise<FinalAnswer | 'absent' | 'lost'> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    signal.throwIfAborted()
    if (!checkSocket(paths)) return 'absent'
    const answer = await converse(paths, request, listener, signal)
    if (answer !== 'busy') return answer
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS))
  }
  throw new AgentUnusableError('the agent does not take connections')
}

function converse(
  paths: AgentPaths,
  request: Request,
  { onStderr, onRun }: AskListener,
  signal: AbortSignal,
): Promise<FinalAnswer | 'absent' | 'busy' | 'lost'> {
  return new Promise((resolve, reject) => {
    const socket = connect(paths.socket)
    const leave = (): void => {
      reject(signal.reason)
      socket.destroy()
    }
    signal.addEventListener('abort', leave, { once: true })
    let isConnected = false
    socket.once('connect', () => {
      isConnected = true
    })
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      // Once connected, `close` reports it.
      if (isConnected) return
      if (code === 'ECONNREFUSED' || code === 'ENOENT') resolve('absent')
      else if (code === 'EAGAIN') resolve('busy')
      // The agent ended while we were connecting.
      else if (code === 'ECONNRESET' || code === 'EPIPE') resolve('lost')
      else reject(new AgentUnusableError(`the agent cannot be reached (${code})`))
    })
    socket.once('close', () => {
      signal.removeEventListener('abort', leave)
      resolve('lost')
    })
    readFrames(socket, {
      onTooLong: () => socket.destroy(),
      onFrame: (text) => {
        const answer = parseAnswer(text)
        if (answer === undefined) socket.destroy()
        else if (answer.is === 'stderr') onStderr?.(answer.text)
        else if (answer.is !== 'run') {
          resolve(answer)
          // A process that exits with the answer need not wait for this.
          setImmediate(() => socket.destroy())
        } else if (onRun === undefined) socket.destroy()
        else void deposit(socket, onRun)
      },
    })
    // Node queues it until the socket is connected.
    writeFrame(socket, request)
  })
}

async function deposit(socket: Socket, run: () => Promise<DepositedOutcome>): Promise<void> {
  writeFrame(socket, { do: 'deposit', outcome: await run() })
}

/** Checks only that the answer is complete: it comes from our own program, through a folder that only we can write to. */
function parseAnswer(text: string): Answer | undefined {
  try {
    const value = JSON.parse(text) as Answer | null
    return typeof value?.is === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
