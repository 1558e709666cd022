import { writeSync } from 'node:fs'
import process from 'node:process'
import { openCluster } from '../connect/connect.ts'
import { CODES, describeUnexpected, exhaustedError, isCredentialError } from '../errors/index.ts'
import type { Environment } from '../formats/plain-object.ts'
import { nodeTerminal } from '../node/environment.ts'
import { loadConnection } from '../node/load-kubeconfig.ts'
import { processProtocol } from '../node/process-registry.ts'
import type { CredentialEvent } from '../ports/observer.ts'
import { showControlCharacters } from '../secret/scrub.ts'
import { openLocalAccess } from './local-access.ts'
import { KEEP_SIGNER, logIn } from './log-in.ts'
import { rehearse } from './rehearse.ts'
import { type Answer, enter, type Fault, STATE, type WorkerTask } from './worker-task.ts'

const UNEXPECTED = 70
const CONTEXT_VARIABLE = 'KUBECRED_CONTEXT'
/** The rehearsal would delay the end of a very short program. */
const REHEARSE_AFTER_MS = 10
/** How often the worker shows that it is alive, while the main thread waits for the login. */
const COUNT_EVERY_MS = 1000
/** Number of different internal errors that are written. */
const MAX_WRITTEN = 100

/** Serves the program of this process from a worker thread, until the main thread sends a message. */
export async function serve({ env, port, state }: WorkerTask): Promise<void> {
  // First, so that its listener has ended running plugins before the main thread goes on.
  processProtocol()
  process.once('exit', () => enter(state, STATE.ended))
  process.once('uncaughtException', (error) => {
    write(`kubecred: ${explain(error).fault}`)
    process.exit()
  })
  port.once('message', () => process.exit())
  enter(state, STATE.running)
  const counting = setInterval(() => Atomics.add(state, 1, 1), COUNT_EVERY_MS)
  port.postMessage(await start(env).catch(explain))
  clearInterval(counting)
  enter(state, STATE.answered)
}

async function start(env: Environment): Promise<Answer> {
  const overrides = { context: env[CONTEXT_VARIABLE] || undefined }
  const connection = await loadConnection({ overrides, env })
  let hide = (text: string): string => text
  const options = { env, policy: KEEP_SIGNER, observer: writeEvents((text) => hide(text)) }
  let isLoggedIn = false
  // After the login the program reads standard input: a plugin would get a part of its input.
  const isTerminal = (): boolean => !isLoggedIn && nodeTerminal.isTerminal()
  const cluster = await openCluster(connection, options, { isTerminal })
  hide = (text) => cluster.hideSecrets(text)
  const { signal } = new AbortController()
  await logIn(cluster, signal)
  isLoggedIn = true
  const access = await openLocalAccess(cluster, { kind: 'register', env, now: () => Date.now() })
  setTimeout(() => void rehearse(access, signal), REHEARSE_AFTER_MS)
  return { env: access.env, folder: access.folder }
}

/** Returns an observer that writes what the user must know to standard error: the same as `kubecred run`. */
function writeEvents(hide: (text: string) => string): (event: CredentialEvent) => void {
  const written = new Set<string>()
  return (event) => {
    if (event.type === 'plugin-stderr') write(hide(event.text.trimEnd()))
    if (event.type === 'warning') write(hide(`kubecred: warning: ${event.message}`))
    if (event.type === 'user-prompt') write(hide(event.text))
    if (event.type !== 'unexpected-error') return
    if (written.has(event.id) || written.size >= MAX_WRITTEN) return
    written.add(event.id)
    write(hide(`kubecred: internal error ${event.id}\n${event.stack}`))
  }
}

function write(text: string): void {
  try {
    // Not `process.stderr`: the main thread writes for it, and may be blocked.
    writeSync(2, `${showControlCharacters(text)}\n`)
  } catch {
    // Standard error is closed, or a pipe that is full.
  }
}

/** Explains an error as the program does. */
function explain(error: unknown): Fault {
  const known = isCredentialError(error) ? error : exhaustedError(error)
  if (known === undefined) {
    const { id, stack } = describeUnexpected(error)
    return { fault: `internal error ${id}\n${stack}`, exitStatus: UNEXPECTED }
  }
  // Without the standard error of a plugin, which was written while it ran.
  const { code, hint, summary } = known
  // Here a user has variables in place of options.
  const text = `${summary}\n\n${hint}\n(${code})`
    .replace('option context', CONTEXT_VARIABLE)
    .replace(', or pass option kubeconfig or option server', '')
  return {
    fault: showControlCharacters(text),
    exitStatus: CODES[code].exit,
  }
}
