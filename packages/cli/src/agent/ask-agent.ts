import { connect, type Socket } from 'node:net'
import { AgentUnusableError } from 'kubecred/internal'
import { type AgentPlace, checkSocket } from './agent-paths.ts'
import {
  type Answer,
  type DepositedOutcome,
  type Request,
  readFrames,
  writeFrame,
} from './protocol.ts'

/** An answer after which nothing more comes. */
export type LastAnswer = Exclude<Answer, { is: 'stderr' | 'run' }>

export interface AskListener {
  /** What the plugin says while it runs. */
  onStderr?(text: string): void
  /** Runs the plugin here; its outcome is deposited. */
  onRun?(): Promise<DepositedOutcome>
}

/**
 * Asks the agent, if there is one.
 *
 * @returns The last answer; `absent` when nobody listens, `lost` when the agent went away before it answered.
 * @throws {AgentUnusableError} When the place is not safe.
 */
export async function askAgent(
  place: AgentPlace,
  request: Request,
  listener: AskListener = {},
): Promise<LastAnswer | 'absent' | 'lost'> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    if (!checkSocket(place)) return 'absent'
    const answer = await converse(place, request, listener)
    if (answer !== 'busy') return answer
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS))
  }
  throw new AgentUnusableError('the agent does not take connections')
}

/** More connections wait than the kernel keeps: that passes. */
const BUSY_PAUSE_MS = 50
const MOST_TRIES = 100

function converse(
  place: AgentPlace,
  request: Request,
  { onStderr, onRun }: AskListener,
): Promise<LastAnswer | 'absent' | 'busy' | 'lost'> {
  return new Promise((resolve, reject) => {
    const socket = connect(place.socket)
    let isConnected = false
    socket.once('connect', () => {
      isConnected = true
    })
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      // Later `close` says the same.
      if (isConnected) return
      if (code === 'ECONNREFUSED' || code === 'ENOENT') resolve('absent')
      else if (code === 'EAGAIN') resolve('busy')
      // It ended while we knocked.
      else if (code === 'ECONNRESET' || code === 'EPIPE') resolve('lost')
      else reject(new AgentUnusableError(`the agent cannot be reached (${code})`))
    })
    socket.once('close', () => resolve('lost'))
    readFrames(socket, {
      onTooLong: () => socket.destroy(),
      onFrame: (text) => {
        const answer = parseAnswer(text)
        if (answer === undefined) socket.destroy()
        else if (answer.is === 'stderr') onStderr?.(answer.text)
        else if (answer.is !== 'run') {
          resolve(answer)
          // Who asked may end with the answer; then there is nothing to take apart.
          setImmediate(() => socket.destroy())
        } else if (onRun === undefined) socket.destroy()
        else void deposit(socket, onRun)
      },
    })
    // It goes out as soon as there is a connection.
    writeFrame(socket, request)
  })
}

async function deposit(socket: Socket, run: () => Promise<DepositedOutcome>): Promise<void> {
  writeFrame(socket, { do: 'deposit', outcome: await run() })
}

/** It comes from a program of our own, behind a folder of our own: what is left to check is that it is whole. */
function parseAnswer(text: string): Answer | undefined {
  try {
    const value = JSON.parse(text) as Answer | null
    return typeof value?.is === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
