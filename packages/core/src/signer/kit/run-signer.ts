import { createReadStream } from 'node:fs'
import { Socket } from 'node:net'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { SignRequestError } from '../../errors/index.ts'
import type { Environment } from '../../formats/plain-object.ts'
import { hostEnvironment } from '../../node/environment.ts'
import {
  type EarlyEnd,
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
  errorLine,
  hideConfiguration,
  isKubecredClient,
  LineSplitter,
  makePromptWriter,
  type PromptChannel,
  terminalPrompt,
} from './answer-request.ts'
import {
  decodeSignRequest,
  type SignerConfiguration,
  type SignerRequest,
} from './decode-sign-request.ts'
import type { SignerHandlers } from './handlers.ts'

/**
 * Options of `runSigner()`.
 *
 * @experimental
 */
export interface SignerOptions {
  /** Whether to keep running for further requests if the client supports it; true by default. */
  readonly longRunning?: boolean
  /**
   * How long to keep running without a request, in milliseconds.
   *
   * By default, until the client closes the descriptor.
   */
  readonly idleMs?: number
}

/**
 * Runs two handlers as an external signer: reads the request, prints the answer, and exits.
 *
 * The request is in `EXTERNAL_SIGNER_PLUGIN_CONFIG`, in the protocol of the specification or of the 2020 plugin, and is
 * answered in the same. Only answers are written to standard output; anything else printed there goes to standard
 * error. Failures are written to standard error, and the exit status is 1, the `exitStatus` of the error (1 to 125), or
 * 2 if there is no valid request.
 *
 * A client that sets `KUBECRED_SIGNER_FD` can send further requests over that descriptor, one JSON object per line. The
 * process then runs until the descriptor is closed, no request came for `idleMs`, its parent is gone, or a signal
 * arrives, and failures are sent as error responses.
 *
 * @experimental
 *
 * @throws {TypeError} If `idleMs` is not greater than 0.
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
  if (!(idleMs > 0)) throw new TypeError('idleMs must be a number of milliseconds greater than 0')
  const write = guardStdout()
  for (const stream of [process.stdout, process.stderr]) {
    // Write errors reach the callback of the write; without a listener they would crash the process.
    stream.on('error', () => {})
  }
  const environment = takeEnvironment()
  const watch = watchProcess('signer')
  const descriptor = longRunning ? readDescriptor(environment) : undefined
  const run: Run = { handlers, write, watch, environment, descriptor, idleMs }
  const outcome = await Promise.race([watch.earlyEnd, attemptUnlessStopped(run)])
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
  | (EarlyEnd & { readonly configuration?: SignerConfiguration })

const REQUEST_VARIABLES = [SIGNER_REQUEST_VARIABLE, SIGNER_MESSAGE_VARIABLE, SIGNER_FD_VARIABLE]

/** Removes the request from the environment, so that child processes do not inherit a PIN. */
function takeEnvironment(): Environment {
  const environment = hostEnvironment()
  const taken = Object.fromEntries(REQUEST_VARIABLES.map((name) => [name, environment[name]]))
  for (const name of REQUEST_VARIABLES) Reflect.deleteProperty(environment, name)
  return taken
}

/** Ignores an invalid descriptor: answering once is always correct. */
function readDescriptor(environment: Environment): number | undefined {
  const text = environment[SIGNER_FD_VARIABLE] ?? ''
  return /^\d{1,6}$/.test(text) && Number(text) > 2 ? Number(text) : undefined
}

async function attempt(run: Run): Promise<Outcome> {
  const { handlers, write, watch, environment, descriptor } = run
  const readsLines = descriptor !== undefined || environment[SIGNER_MESSAGE_VARIABLE] !== undefined
  const channel: PromptChannel = { write, readsLines }
  const { signal, interrupt } = watch
  const prompt = terminalPrompt({ signal, interrupt })
  const answer = (request: SignerRequest): Promise<string> =>
    answerRequest(request, handlers, {
      prompt,
      signal,
      notify: makePromptWriter(request.kinds, channel),
      takesChain: isKubecredClient(request.kinds, channel),
    })
  let configuration: SignerConfiguration = {}
  try {
    const first = readRequest(environment)
    configuration = first.configuration
    if (descriptor === undefined) await writeAnswer(await answer(first), run)
    else await answerRequests(first, { ...run, descriptor, answer, signal })
    return { is: 'done' }
  } catch (error) {
    return { is: 'failed', error, configuration }
  }
}

/** After a signal nothing is answered, even if the handler returned a result. */
async function attemptUnlessStopped(run: Run): Promise<Outcome> {
  const outcome = await attempt(run)
  run.watch.settled()
  return run.watch.signal.aborted ? run.watch.earlyEnd : outcome
}

function readRequest(environment: Environment): SignerRequest {
  const text = environment[SIGNER_REQUEST_VARIABLE]?.trim() ?? ''
  if (text === '') {
    throw new SignRequestError('', `is missing: ${SIGNER_REQUEST_VARIABLE} is unset or empty`, {
      hint: 'Let a Kubernetes client start this signer: name it in pathExec of the auth-provider externalSigner in a kubeconfig.',
    })
  }
  return decodeSignRequest(text, environment[SIGNER_MESSAGE_VARIABLE])
}

async function writeAnswer(text: string, { write, watch }: Run): Promise<void> {
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
  const description = describeFailure(error, { debug, what: 'signer' })
  process.stderr.write(hideConfiguration(description, configuration))
  return error instanceof SignRequestError ? 2 : exitStatusOf(error)
}

interface LongRunning {
  readonly answer: (request: SignerRequest) => Promise<string>
  readonly write: (text: string) => Promise<void>
  /** Where further requests come from. */
  readonly descriptor: number
  readonly idleMs: number
  /** Ends the wait for the next request. */
  readonly signal: AbortSignal
}

/** How often to check that the client is alive. Another child process may keep its end of the descriptor open. */
const PARENT_CHECK_MS = 1000

/** Answers the first request and then those from the descriptor, in order, until it is closed. */
async function answerRequests(first: SignerRequest, run: LongRunning): Promise<void> {
  const watch = watchParent()
  // By default Node starts a debugger on this signal, here in a process that may be logged in to a device.
  process.on('SIGUSR1', () => {})
  try {
    // Opened before the first answer, so that a client can use it as soon as it has one.
    const lines = readLines(openDescriptor(run.descriptor), run)
    await answerOne(() => first, run)
    for await (const text of lines) await answerOne(() => decodeSignRequest(text), run)
  } finally {
    clearInterval(watch)
  }
}

/** Answers one request. A failure becomes an error response, because the next request may succeed. */
async function answerOne(
  decode: () => SignerRequest,
  { answer, write, signal }: LongRunning,
): Promise<void> {
  let request: SignerRequest | undefined
  let text: string
  try {
    request = decode()
    text = await answer(request)
  } catch (error) {
    text = errorLine(error, request?.configuration)
  }
  // After a signal nothing is answered, even if the handler returned a result.
  if (!signal.aborted) await write(text)
}

/** Cleans up as after a hang-up when the client has died, because its answers would not be read. */
function watchParent(): NodeJS.Timeout {
  const parent = process.ppid
  const check = (): void => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGHUP')
  }
  return setInterval(check, PARENT_CHECK_MS).unref()
}

/** Yields the lines of the descriptor until it is closed, the signal is aborted, or no line came for `idleMs`. */
async function* readLines(
  stream: Readable,
  { idleMs, signal }: LongRunning,
): AsyncGenerator<string> {
  const end = (): void => void stream.destroy()
  signal.addEventListener('abort', end, { once: true })
  const splitter = new LineSplitter()
  let idle: NodeJS.Timeout | undefined
  const restartIdleTimer = (): void => {
    clearTimeout(idle)
    if (idleMs < MAX_TIMER_MS) idle = setTimeout(end, idleMs)
  }
  try {
    restartIdleTimer()
    for await (const chunk of stream) {
      clearTimeout(idle)
      yield* splitter.push(chunk as Buffer)
      restartIdleTimer()
    }
    const rest = splitter.rest()
    if (rest.trim() !== '') yield rest
  } catch (error) {
    // The descriptor was closed, or was never open: there are no further requests.
    if (error instanceof RangeError) throw error
  } finally {
    clearTimeout(idle)
    signal.removeEventListener('abort', end)
    stream.destroy()
  }
}

/** Node's timers have no longer delay. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Clients pass a pipe. A file with requests is useful for testing a signer. */
function openDescriptor(fd: number): Readable {
  try {
    return new Socket({ fd, readable: true, writable: false })
  } catch {
    return createReadStream('', { fd })
  }
}
