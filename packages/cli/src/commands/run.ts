import type { ChildProcess } from 'node:child_process'
import process from 'node:process'
import { type Cluster, connect } from 'kubecred'
import {
  KEEP_SIGNER,
  killTree,
  type LocalAccess,
  logIn,
  openLocalAccess,
  rehearse,
  startProgram,
} from 'kubecred/internal'
import type { Call, Run } from '../command.ts'
import { connectOptions } from '../flags/connect-options.ts'
import { printableLine } from '../render/printable.ts'
import { UnexpectedErrors } from '../render/unexpected-errors.ts'
import { detachStdin } from '../run/detach-stdin.ts'
import { exitBySignal } from '../run/exit-by-signal.ts'
import { findCommand } from '../run/find-command.ts'
import { type Ending, followChild } from '../run/follow-child.ts'
import { userEnvironment, withoutNodeOptions } from '../run/node-options.ts'
import { OneShotSigner } from '../run/one-shot-signer.ts'
import { refuseDebugger } from '../run/refuse-debugger.ts'
import { describeConnection } from '../session.ts'

const CANNOT_START = 126
/** The rehearsal would delay the end of a very short command. */
const REHEARSE_AFTER_MS = 10

/** `run -- COMMAND…`: runs a command with its own local proxy, which has the credential. */
export const run: Run = async (call) => {
  const { io, args, stderr, flags, log, progress, signal } = call
  const relayed = await withoutNodeOptions(call)
  if (relayed !== undefined) return relayed
  refuseDebugger()
  const env = userEnvironment(io.env)
  const [command = ''] = args
  const found = await findCommand(command, env)
  if ('fault' in found) {
    stderr.line(`${stderr.palette.red('kubecred:')} ${printableLine(found.fault)}`)
    return found.exitStatus
  }
  let hasStarted = false
  const unexpected = new UnexpectedErrors(stderr, io.now)
  const oneShot = new OneShotSigner(stderr)
  const options = connectOptions(flags, io)
  const cluster = await connect({
    ...options,
    env,
    policy: { ...options.policy, ...KEEP_SIGNER },
    observer(event) {
      log.observe(event)
      progress.observe(event)
      oneShot.observe(event)
      // During the login an unexpected error ends the command and is explained there.
      if (hasStarted) unexpected.observe(event)
    },
    signal,
  })
  stderr.hideWith((text) => cluster.hideSecrets(text))
  let ending: Ending
  try {
    log.tell(describeConnection(cluster))
    progress.begin('the login')
    await logIn(cluster, signal)
    hasStarted = true
    progress.end()
    progress.shareTerminal()
    oneShot.loggedIn()
    ending = await runAgainst(call, cluster, { path: found.path, env })
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    await cluster.close()
    unexpected.end()
  }
  if (signal.aborted) throw signal.reason
  if ('status' in ending) return ending.status
  if ('signal' in ending) return exitBySignal(ending.signal)
  const { message } = ending.error
  stderr.line(
    `${stderr.palette.red('kubecred:')} ${printableLine(command)}: ${printableLine(message)}`,
  )
  return CANNOT_START
}

interface Started {
  readonly path: string
  /** The environment of the user. */
  readonly env: Call['io']['env']
}

/** Runs the command. The proxy and the files are removed when it has ended. */
async function runAgainst(call: Call, cluster: Cluster, { path, env }: Started): Promise<Ending> {
  const { io, args, signal, log } = call
  const [command = '', ...rest] = args
  const access = await openLocalAccess(cluster, { kind: 'run', env, now: io.now })
  try {
    signal.throwIfAborted()
    log.tell(`running ${printableLine(command)} with the proxy ${access.url}`)
    const start = (): ChildProcess => {
      const child = startProgram(
        { command, path, args: rest, env: access.env },
        { stdio: 'inherit' },
      )
      detachStdin()
      rehearseDuring(child, access)
      // For --timeout.
      signal.addEventListener('abort', () => endCommand(child), { once: true })
      return child
    }
    return await followChild(start, io)
  } finally {
    await access.close()
  }
}

/** On Windows a batch file is run by cmd.exe, which must not end alone. */
function endCommand(child: ChildProcess): void {
  if (process.platform === 'win32') killTree(child, 'SIGKILL', false)
  else child.kill('SIGTERM')
}

/** Rehearses a request while the command starts, so that its first request does not wait. */
function rehearseDuring(child: ChildProcess, access: LocalAccess): void {
  const ended = new AbortController()
  const timer = setTimeout(() => void rehearse(access, ended.signal), REHEARSE_AFTER_MS)
  child.once('exit', () => {
    clearTimeout(timer)
    ended.abort()
  })
}
