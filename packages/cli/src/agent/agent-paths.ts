import { lstatSync, mkdirSync, type Stats, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { AgentUnusableError, type Environment } from 'kubecred/internal'

/** The paths of one user's agent. */
export interface AgentPaths {
  readonly folder: string
  readonly socket: string
  /** Held by the process that starts an agent. */
  readonly lock: string
}

/** The kernel truncates longer socket paths, and would connect to another socket. */
const MAX_PATH_BYTES = 100
const GROUP_AND_OTHERS = 0o077
const GROUP_AND_OTHERS_WRITE = 0o022
const STICKY = 0o1000

/**
 * Returns the paths of the agent: in XDG_RUNTIME_DIR, else in a folder of this user below the temporary folder.
 *
 * The protocol version is part of the name, so that a program never connects to an agent of another version.
 *
 * @throws {AgentUnusableError} On Windows, and if the socket path is too long.
 */
export function agentPaths(env: Environment): AgentPaths {
  const uid = process.getuid?.()
  if (uid === undefined) {
    throw new AgentUnusableError(
      'there is no agent on Windows, because Node cannot keep other users from its socket',
      {
        hint: 'Set KUBECRED_AGENT=off: kubecred-token then runs the plugin each time, without this message.',
      },
    )
  }
  const runtime = env['XDG_RUNTIME_DIR']
  const folder = runtime?.startsWith('/')
    ? join(runtime, 'kubecred')
    : join(tmpdir(), `kubecred-${uid}`)
  const socket = join(folder, 'agent-1.sock')
  const size = Buffer.byteLength(socket)
  if (size > MAX_PATH_BYTES) {
    throw new AgentUnusableError(
      `the path of the agent's socket has ${size} bytes, the limit is ${MAX_PATH_BYTES}: ${JSON.stringify(socket)}`,
      { hint: 'Set XDG_RUNTIME_DIR to a shorter path.' },
    )
  }
  return { folder, socket, lock: join(folder, 'agent-1.lock') }
}

/**
 * Rejects a folder that another user could have created or can write to.
 *
 * Access is controlled by the folder because Node cannot show which user is at the other end of a socket.
 *
 * @returns Whether the folder exists.
 * @throws {AgentUnusableError} If the folder is not safe.
 */
export function checkFolder({ folder }: AgentPaths): boolean {
  const facts = lookAt(folder)
  checkParent(folder)
  if (facts === undefined) return false
  if (facts.isSymbolicLink()) refuse(folder, 'it is a symbolic link', remove(folder))
  if (!facts.isDirectory()) refuse(folder, 'it is not a folder', remove(folder))
  checkOwner(folder, facts, '700')
  return true
}

/**
 * Rejects a socket that other users can access.
 *
 * @returns Whether the socket exists.
 * @throws {AgentUnusableError} If the socket or its folder is not safe.
 */
export function checkSocket(paths: AgentPaths): boolean {
  if (!checkFolder(paths)) return false
  const facts = lookAt(paths.socket)
  if (facts === undefined) return false
  if (!facts.isSocket()) refuse(paths.socket, 'it is not a socket', remove(paths.socket))
  checkOwner(paths.socket, facts, '600')
  return true
}

/** Creates the folder if it does not exist, and checks it. */
export function makeFolder(paths: AgentPaths): void {
  if (checkFolder(paths)) return
  try {
    mkdirSync(paths.folder, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') refuse(paths.folder, `it cannot be created (${code})`, ELSEWHERE)
  }
  checkFolder(paths)
}

/** A user who can write to the parent folder could replace ours after the check. */
function checkParent(folder: string): void {
  const parent = dirname(folder)
  const facts = statSync(parent, { throwIfNoEntry: false })
  if (facts === undefined) throw unusable(parent, 'it does not exist', ELSEWHERE)
  const isTheirs = facts.uid !== process.getuid?.() && facts.uid !== 0
  if (isTheirs) refuse(parent, 'it belongs to another user', ELSEWHERE)
  const isOpen = (facts.mode & GROUP_AND_OTHERS_WRITE) !== 0 && (facts.mode & STICKY) === 0
  if (isOpen) refuse(parent, 'other users can write to it', `Run chmod go-w ${quote(parent)}`)
}

function checkOwner(path: string, { uid, mode }: Stats, wanted: string): void {
  if (uid !== process.getuid?.()) refuse(path, 'it belongs to another user', ELSEWHERE)
  if ((mode & GROUP_AND_OTHERS) === 0) return
  refuse(path, 'other users have access to it', `Run chmod ${wanted} ${quote(path)}`)
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    return refuse(path, `it cannot be examined (${code})`, ELSEWHERE)
  }
}

const ELSEWHERE = 'Set XDG_RUNTIME_DIR to a folder that only you can access'

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
    hint: `${remedy}, or set KUBECRED_AGENT=off to disable the agent.`,
  })
}
