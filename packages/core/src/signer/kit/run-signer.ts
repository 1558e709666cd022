import { createReadStream } from 'node:fs'
import { Socket } from 'node:net'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { SignRequestError } from '../../errors/index.ts'
import type { Environment } from '../../formats/plain-object.ts'
import { hostEnvironment } from '../../node/environment.ts'
import {
  type Disaster,
  guardStdout,
  type ProcessWatch,
  watchProcess,
} from '../../plugin/kit/plugin-process.ts'
import {
  SIGNER_FD_VARIABLE,
  SIGNER_MESSAGE_VARIABLE,
  SIGNER_REQUEST_VARIABLE,
} from '../signer-protocol.ts'
import {
  answerRequest,
  hideConfiguration,
  isOurClient,
  LineSplitter,
  makeTell,
  refusalLine,
  type Telling,
  terminalPrompt,
} from './answer-request.ts'
import {
  type AskedOfSigner,
  decodeSignRequest,
  type SignerConfiguration,
} from './decode-sign-request.ts'
import type { SignerHandlers } from './handlers.ts'

export interface SignerOptions {
  /** Whether it stays for further requests where the client offers that. True unless told. */
  readonly longRunning?: boolean
  /** How long it stays without a request, in milliseconds. By default the client decides, which closes the descriptor. */
  readonly idleMs?: number
}

/**
 * Makes a whole external signer out of two functions, and ends the process with it.
 *
 * The request comes in `EXTERNAL_SIGNER_PLUGIN_CONFIG`, in the words of the specification or of the plugin of 2020,
 * and is answered in the same. Standard output carries answers and nothing else: what a function or a library prints
 * there goes to standard error. A failure is told on standard error, with the exit status 1, the error's own
 * `exitStatus` (1 to 125), or 2 when there is no request that could be read.
 *
 * A client that sets `KUBECRED_SIGNER_FD` may send more, one JSON object per line, from that descriptor: then the process
 * stays until the descriptor ends, nothing came for `idleMs`, its parent is gone, or a signal says so. Failures are
 * then answers too, and the process stays.
 *
 * @example
 * await runSigner({
 *   certificate: ({ configuration }) => readFile(configuration.certificate),
 *   sign: ({ digest, scheme, signal }) => device.sign(digest, scheme, { signal }),
 * })
 */
export async function runSigner(
  handlers: SignerHandlers,
  { longRunning = true, idleMs = Number.POSITIVE_INFINITY }: SignerOptions = {},
): Promise<never> {
  if (!(idleMs > 0)) throw new TypeError('idleMs is a number of milliseconds above zero')
  const write = guardStdout()
  for (const stream of [process.stdout, process.stderr]) {
    // A reader that went away is told to whoever writes, and is no reason to crash.
    stream.on('error', () => {})
  }
  const environment = takeEnvironment()
  const watch = watchProcess('signer')
  const descriptor = longRunning ? readDescriptor(environment) : undefined
  const run: Run = { handlers, write, watch, environment, descriptor, idleMs }
  const outcome = await Promise.race([watch.disaster, attemptUnlessStopped(run)])
  const status = await finish(outcome)
  await new Promise<void>((resolve) => {
    process.stderr.write('', () => resolve())
  })
  process.exit(status)
}

interface Run {
  readonly handlers: SignerHandlers
  readonly write: (text: string) => Promise<void>
  readonly watch: ProcessWatch
  readonly environment: Environment
  /** Where further requests come from. */
  readonly descriptor: number | undefined
  readonly idleMs: number
}

type Outcome =
  | { readonly is: 'done' }
  | (Disaster & { readonly configuration?: SignerConfiguration })

const OURS = [SIGNER_REQUEST_VARIABLE, SIGNER_MESSAGE_VARIABLE, SIGNER_FD_VARIABLE]

/** Takes the request out of the environment, so that no program the signer starts inherits a PIN in it. */
function takeEnvironment(): Environment {
  const environment = hostEnvironment()
  const taken = Object.fromEntries(OURS.map((name) => [name, environment[name]]))
  for (const name of OURS) Reflect.deleteProperty(environment, name)
  return taken
}

/** A number that is none means a client we do not know: one answer is always right. */
function readDescriptor(environment: Environment): number | undefined {
  const text = environment[SIGNER_FD_VARIABLE] ?? ''
  return /^\d{1,6}$/.test(text) && Number(text) > 2 ? Number(text) : undefined
}

async function attempt(run: Run): Promise<Outcome> {
  const { handlers, write, watch, environment, descriptor } = run
  const readsLines = descriptor !== undefined || environment[SIGNER_MESSAGE_VARIABLE] !== undefined
  const telling: Telling = { write, readsLines }
  const { signal, interrupt } = watch
  const ask = terminalPrompt({ signal, interrupt })
  const answer = (asked: AskedOfSigner): Promise<string> =>
    answerRequest(asked, handlers, {
      ask,
      signal,
      prompt: makeTell(asked.kinds, telling),
      takesChain: isOurClient(asked.kinds, telling),
    })
  let configuration: SignerConfiguration = {}
  try {
    const first = readRequest(environment)
    configuration = first.configuration
    if (descriptor === undefined) await hand(await answer(first), run)
    else await stayAndAnswer(first, { ...run, descriptor, answer, signal })
    return { is: 'done' }
  } catch (error) {
    return { is: 'failed', error, configuration }
  }
}

/** After a signal there is no answer, whatever the function made of it. */
async function attemptUnlessStopped(run: Run): Promise<Outcome> {
  const outcome = await attempt(run)
  run.watch.settled()
  return run.watch.signal.aborted ? run.watch.disaster : outcome
}

function readRequest(environment: Environment): AskedOfSigner {
  const text = environment[SIGNER_REQUEST_VARIABLE]?.trim() ?? ''
  if (text === '') {
    throw new SignRequestError('', `is missing: ${SIGNER_REQUEST_VARIABLE} is unset or empty`, {
      hint: 'This is a signer; a Kubernetes client starts it: name it in pathExec of the auth-provider externalSigner in a kubeconfig.',
    })
  }
  return decodeSignRequest(text, environment[SIGNER_MESSAGE_VARIABLE])
}

async function hand(text: string, { write, watch }: Run): Promise<void> {
  watch.signal.throwIfAborted()
  try {
    await write(text)
  } catch (cause) {
    throw new Error('the client closed standard output before the answer', { cause })
  }
}

async function finish(outcome: Outcome): Promise<number> {
  if (outcome.is === 'done') return 0
  if (outcome.is === 'signalled') return outcome.status
  const { error, configuration = {} } = outcome
  const { describeFailure, exitStatusOf } = await import('../../plugin/kit/describe-failure.ts')
  const debug = hostEnvironment()['KUBECRED_PLUGIN_DEBUG'] === '1'
  const words = describeFailure(error, { debug, what: 'signer' })
  process.stderr.write(hideConfiguration(words, configuration))
  return error instanceof SignRequestError ? 2 : exitStatusOf(error)
}

interface Staying {
  readonly answer: (asked: AskedOfSigner) => Promise<string>
  readonly write: (text: string) => Promise<void>
  /** Where further requests come from. */
  readonly descriptor: number
  readonly idleMs: number
  /** Ends the waiting for the next request. */
  readonly signal: AbortSignal
}

/** How often we look whether the client is still there. Its end of the descriptor may be held by another child. */
const PARENT_CHECK_MS = 1000

/** Answers the first request and then those from the descriptor, in order, until nobody has any more. */
async function stayAndAnswer(first: AskedOfSigner, staying: Staying): Promise<void> {
  const watch = watchParent()
  // Node's own answer to this signal is a debugger, in a process that may be logged in to a device.
  process.on('SIGUSR1', () => {})
  try {
    // Opened before the first answer: a client that is told of it can count on it.
    const lines = readLines(openDescriptor(staying.descriptor), staying)
    await answerOne(() => first, staying)
    for await (const text of lines) await answerOne(() => decodeSignRequest(text), staying)
  } finally {
    clearInterval(watch)
  }
}

/** A refusal is an answer too: the next request may succeed. */
async function answerOne(
  read: () => AskedOfSigner,
  { answer, write, signal }: Staying,
): Promise<void> {
  let asked: AskedOfSigner | undefined
  let text: string
  try {
    asked = read()
    text = await answer(asked)
  } catch (error) {
    text = refusalLine(error, asked?.configuration)
  }
  // After a signal there is no answer, whatever the function made of it.
  if (!signal.aborted) await write(text)
}

/** Nobody reads answers of a signer whose client has died; what it does then is clean up, as after a hang-up. */
function watchParent(): NodeJS.Timeout {
  const parent = process.ppid
  const look = (): void => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGHUP')
  }
  return setInterval(look, PARENT_CHECK_MS).unref()
}

/** Lines of the descriptor; ends with it, with the signal, or when none came for too long. */
async function* readLines(stream: Readable, { idleMs, signal }: Staying): AsyncGenerator<string> {
  const end = (): void => void stream.destroy()
  signal.addEventListener('abort', end, { once: true })
  const splitter = new LineSplitter()
  let idle: NodeJS.Timeout | undefined
  const waitAgain = (): void => {
    clearTimeout(idle)
    if (idleMs < MOST_TIMER_MS) idle = setTimeout(end, idleMs)
  }
  try {
    waitAgain()
    for await (const chunk of stream) {
      clearTimeout(idle)
      yield* splitter.push(chunk as Buffer)
      waitAgain()
    }
    const rest = splitter.rest()
    if (rest.trim() !== '') yield rest
  } catch (error) {
    // Closed under the reader by us or by the client, or never open: then the one answer was all.
    if (error instanceof RangeError) throw error
  } finally {
    clearTimeout(idle)
    signal.removeEventListener('abort', end)
    stream.destroy()
  }
}

/** Node's timers know no longer time. */
const MOST_TIMER_MS = 2 ** 31 - 1

/** Clients give a pipe; a file with requests in it is handy at an author's desk. */
function openDescriptor(fd: number): Readable {
  try {
    return new Socket({ fd, readable: true, writable: false })
  } catch {
    return createReadStream('', { fd })
  }
}
