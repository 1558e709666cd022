import process from 'node:process'
import { formatRfc3339 } from '../../formats/rfc3339.ts'
import { hostEnvironment } from '../../node/environment.ts'
import type { PluginInfo } from '../exec-info.ts'
import { checkedAnswer, type PluginCredential } from './answer.ts'
import { type ClusterFetch, clusterFetch } from './cluster-fetch.ts'
import { type Disaster, guardStdout, type ProcessWatch, watchProcess } from './plugin-process.ts'
import type { Prompt, Prompting } from './prompt.ts'
import { readExecInfo } from './read-exec-info.ts'

/** What the function of a plugin gets. */
export interface PluginContext extends PluginInfo {
  /** Aborted by SIGINT, SIGQUIT, SIGTERM and SIGHUP: clean up and return, the process ends a second later. */
  readonly signal: AbortSignal
  /** Asks the person at the terminal; fails at once when `interactive` is false. */
  readonly prompt: Prompt
  /** A fetch to the cluster, anonymous; fails without `provideClusterInfo: true` in the kubeconfig. */
  readonly clusterFetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
}

export type PluginFunction = (
  context: PluginContext,
) => PluginCredential | Promise<PluginCredential>

/**
 * Makes a whole credential plugin out of one function, and ends the process with it.
 *
 * Standard output carries the answer, once and whole, and nothing else: what the function or a library
 * prints there goes to standard error. A failure is one line `NAME: message` and a hint on standard error,
 * with the exit status 1 or the error's own `exitStatus` (1 to 125), and without a stack unless
 * `KUBECRED_PLUGIN_DEBUG=1`. A signal aborts `signal`, then ends the process with 128 and its number.
 *
 * @example
 * await runPlugin(async ({ cluster, signal }) => {
 *   const { token, expiresAt } = await logIn(cluster?.server, { signal })
 *   return { token, expirationTimestamp: expiresAt }
 * })
 */
export async function runPlugin(work: PluginFunction): Promise<never> {
  const writeAnswer = guardStdout()
  for (const stream of [process.stdout, process.stderr]) {
    // A reader that went away is told to whoever writes, and is no reason to crash.
    stream.on('error', () => {})
  }
  const watch = watchProcess()
  const outcome = await Promise.race([watch.disaster, attemptUnlessStopped(work, watch)])
  const status = await finish(outcome, writeAnswer)
  await new Promise<void>((resolve) => {
    process.stderr.write('', () => resolve())
  })
  process.exit(status)
}

type Outcome = Disaster | { readonly is: 'answered'; readonly text: string }

async function attempt(work: PluginFunction, watch: ProcessWatch): Promise<Outcome> {
  const { signal, interrupt } = watch
  let opened: ClusterFetch | undefined
  try {
    const info = await readExecInfo()
    const credential = await work({
      ...info,
      signal,
      prompt: loadingPrompt({ interactive: info.interactive, signal, interrupt }),
      clusterFetch: async (input, init) => {
        opened ??= clusterFetch(info)
        return await opened(input, { signal, ...init })
      },
    })
    return { is: 'answered', text: await checkAnswer(credential, info) }
  } catch (error) {
    return { is: 'failed', error }
  } finally {
    void opened?.close()
  }
}

/** What most runs do not need is loaded by those that do: everybody waits for a plugin to start. */
function loadingPrompt(prompting: Prompting): Prompt {
  let loaded: Promise<Prompt> | undefined
  return async (question, options) => {
    loaded ??= import('./prompt.ts').then(({ makePrompt }) => makePrompt(prompting))
    return (await loaded)(question, options)
  }
}

/** After a signal there is no answer, whatever the function made of it. */
async function attemptUnlessStopped(work: PluginFunction, watch: ProcessWatch): Promise<Outcome> {
  const outcome = await attempt(work, watch)
  watch.settled()
  return watch.signal.aborted ? watch.disaster : outcome
}

/** Checks what the client will check, while the author can still see it. */
async function checkAnswer(credential: unknown, info: PluginInfo): Promise<string> {
  const { text, read } = checkedAnswer(credential, info)
  if (read.certificate !== undefined) {
    const { checkCertificate } = await import('./check-certificate.ts')
    checkCertificate(read.certificate)
  }
  if (read.expiresAt <= Date.now()) {
    const when = formatRfc3339(read.expiresAt)
    process.stderr.write(
      `warning: expirationTimestamp ${when} is in the past, so clients will ask again at once\n`,
    )
  }
  return text
}

async function finish(outcome: Outcome, write: (text: string) => Promise<void>): Promise<number> {
  if (outcome.is === 'signalled') return outcome.status
  if (outcome.is === 'failed') return await fail(outcome.error)
  try {
    await write(`${outcome.text}\n`)
    return 0
  } catch (cause) {
    return await fail(new Error('the client closed standard output before the answer', { cause }))
  }
}

async function fail(error: unknown): Promise<number> {
  const { describeFailure, exitStatusOf } = await import('./describe-failure.ts')
  const debug = hostEnvironment()['KUBECRED_PLUGIN_DEBUG'] === '1'
  process.stderr.write(describeFailure(error, { debug }))
  return exitStatusOf(error)
}
