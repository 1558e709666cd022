import type { Socket } from 'node:net'
import type { Agent } from './agent.ts'
import { Asker } from './asker.ts'
import { decodeRequest } from './decode-request.ts'
import { readFrames, writeFrame } from './frames.ts'
import type { AgentStatus, Answer, Failed, LookRequest, PlainRequest } from './wire.ts'

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
