import { lstatSync, mkdirSync, type Stats, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { AgentUnusableError, type Environment } from 'kubecred/internal'

/** Where an agent is, for one user. */
export interface AgentPlace {
  readonly folder: string
  readonly socket: string
  /** Held by who starts an agent. */
  readonly lock: string
}

/** The kernel cuts longer paths of sockets, and would talk to another one. */
const MOST_PATH_BYTES = 100
const GROUP_AND_OTHERS = 0o077
const GROUP_AND_OTHERS_WRITE = 0o022
const STICKY = 0o1000

/**
 * The place of the agent: in XDG_RUNTIME_DIR, else in a folder of our own among the temporary ones.
 *
 * The version of what is spoken is part of the name, so that a program never meets an agent it cannot talk to.
 *
 * @throws {AgentUnusableError}
 */
export function agentPlace(env: Environment): AgentPlace {
  const uid = process.getuid?.()
  if (uid === undefined) {
    throw new AgentUnusableError('there is no agent on this system: it needs unix sockets', {
      hint: 'Set KUBECRED_AGENT=off to do without it silently.',
    })
  }
  const runtime = env['XDG_RUNTIME_DIR']
  const folder = runtime?.startsWith('/')
    ? join(runtime, 'kubecred')
    : join(tmpdir(), `kubecred-${uid}`)
  const socket = join(folder, 'agent-1.sock')
  const size = Buffer.byteLength(socket)
  if (size > MOST_PATH_BYTES) {
    throw new AgentUnusableError(
      `the path of the agent's socket has ${size} bytes, and ${MOST_PATH_BYTES} is the limit: ${JSON.stringify(socket)}`,
      { hint: 'Set XDG_RUNTIME_DIR to a shorter path.' },
    )
  }
  return { folder, socket, lock: join(folder, 'agent-1.lock') }
}

/**
 * Refuses a folder that anybody else could have put there or can write to.
 *
 * The folder is the guard: Node does not tell who is at the other end of a socket.
 *
 * @returns Whether there is a folder at all.
 * @throws {AgentUnusableError} Says what is wrong with it.
 */
export function checkFolder({ folder }: AgentPlace): boolean {
  const facts = lookAt(folder)
  checkParent(folder)
  if (facts === undefined) return false
  if (facts.isSymbolicLink()) refuse(folder, 'it is a symbolic link', remove(folder))
  if (!facts.isDirectory()) refuse(folder, 'it is not a folder', remove(folder))
  checkOwner(folder, facts, '700')
  return true
}

/**
 * Refuses a socket that is not ours alone.
 *
 * @returns Whether there is one at all.
 * @throws {AgentUnusableError}
 */
export function checkSocket(place: AgentPlace): boolean {
  if (!checkFolder(place)) return false
  const facts = lookAt(place.socket)
  if (facts === undefined) return false
  if (!facts.isSocket()) refuse(place.socket, 'it is not a socket', remove(place.socket))
  checkOwner(place.socket, facts, '600')
  return true
}

/** Makes the folder if it is not there, and checks it. */
export function makeFolder(place: AgentPlace): void {
  if (checkFolder(place)) return
  try {
    mkdirSync(place.folder, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') refuse(place.folder, `it cannot be made (${code})`, ELSEWHERE)
  }
  checkFolder(place)
}

/** Who can write to the folder above could put another in the place of ours after we looked. */
function checkParent(folder: string): void {
  const parent = dirname(folder)
  const facts = statSync(parent, { throwIfNoEntry: false })
  if (facts === undefined) throw unusable(parent, 'it does not exist', ELSEWHERE)
  const isTheirs = facts.uid !== process.getuid?.() && facts.uid !== 0
  if (isTheirs) refuse(parent, 'it belongs to another user', ELSEWHERE)
  const isOpen = (facts.mode & GROUP_AND_OTHERS_WRITE) !== 0 && (facts.mode & STICKY) === 0
  if (isOpen)
    refuse(parent, 'others can write to it', `Close it to them: chmod go-w ${quote(parent)}`)
}

function checkOwner(path: string, { uid, mode }: Stats, wanted: string): void {
  if (uid !== process.getuid?.()) refuse(path, 'it belongs to another user', ELSEWHERE)
  if ((mode & GROUP_AND_OTHERS) === 0) return
  refuse(
    path,
    'others than you have access to it',
    `Close it to them: chmod ${wanted} ${quote(path)}`,
  )
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    return refuse(path, `it cannot be looked at (${code})`, ELSEWHERE)
  }
}

const ELSEWHERE = 'Set XDG_RUNTIME_DIR to a folder of your own'

function remove(path: string): string {
  return `Remove ${quote(path)}`
}

function quote(path: string): string {
  return JSON.stringify(path)
}

function refuse(path: string, reason: string, remedy: string): never {
  throw unusable(path, reason, remedy)
}

function unusable(path: string, reason: string, remedy: string): AgentUnusableError {
  return new AgentUnusableError(`the agent at ${quote(path)} is not used: ${reason}`, {
    hint: `${remedy}; or set KUBECRED_AGENT=off to do without the agent.`,
  })
}
