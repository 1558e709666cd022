import process from 'node:process'
import { formatRfc3339 } from '../../formats/rfc3339.ts'
import { hostEnvironment } from '../../node/environment.ts'
import type { PluginInfo } from '../exec-info.ts'
import { type ClusterFetch, clusterFetch } from './cluster-fetch.ts'
import { checkedAnswer, type PluginCredential } from './encode-exec-credential.ts'
import { type EarlyEnd, guardStdout, type ProcessWatch, watchProcess } from './plugin-process.ts'
import type { Prompt, PromptSettings } from './prompt.ts'
import { readExecInfo } from './read-exec-info.ts'

/** The argument of the function of a plugin. */
export interface PluginContext extends PluginInfo {
  /** Aborted by SIGINT, SIGQUIT, SIGTERM and SIGHUP. Clean up and return: the process ends a second later. */
  readonly signal: AbortSignal
  /** Asks a question at the terminal. Rejects at once if `interactive` is false. */
  readonly prompt: Prompt
  /** An anonymous fetch to the cluster. Rejects without `provideClusterInfo: true` in the kubeconfig. */
  readonly clusterFetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
}

/** Returns the credential. May be asynchronous. */
export type PluginFunction = (
  context: PluginContext,
) => PluginCredential | Promise<PluginCredential>

/**
 * Runs a function as a credential plugin: reads the input, prints the answer, and exits.
 *
 * Only the answer is written to standard output; anything else printed there goes to standard error. A failure is one
 * line `NAME: message` and a hint on standard error, and the exit status is 1, or the `exitStatus` of the error (1 to
 * 125). `KUBECRED_PLUGIN_DEBUG=1` adds the stack. A signal aborts `signal`, then ends the process with the status 128
 * plus its number.
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
    // Write errors reach the callback of the write; without a listener they would crash the process.
    stream.on('error', () => {})
  }
  const watch = watchProcess()
  const outcome = await Promise.race([watch.earlyEnd, attemptUnlessStopped(work, watch)])
  const status = await finish(outcome, writeAnswer)
  await new Promise<void>((resolve) => {
    process.stderr.write('', () => resolve())
  })
  process.exit(status)
}

type Outcome = EarlyEnd | { readonly is: 'answered'; readonly text: string }

async function attempt(work: PluginFunction, watch: ProcessWatch): Promise<Outcome> {
  const { signal, interrupt } = watch
  let opened: ClusterFetch | undefined
  try {
    const info = await readExecInfo()
    const credential = await work({
      ...info,
      signal,
      prompt: lazyPrompt({ interactive: info.interactive, signal, interrupt }),
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

/** Loads the prompt with the first question: most runs ask none, and plugins should start fast. */
function lazyPrompt(settings: PromptSettings): Prompt {
  let loaded: Promise<Prompt> | undefined
  return async (question, options) => {
    loaded ??= import('./prompt.ts').then(({ makePrompt }) => makePrompt(settings))
    return (await loaded)(question, options)
  }
}

/** After a signal nothing is answered, even if the function returned a credential. */
async function attemptUnlessStopped(work: PluginFunction, watch: ProcessWatch): Promise<Outcome> {
  const outcome = await attempt(work, watch)
  watch.settled()
  return watch.signal.aborted ? watch.earlyEnd : outcome
}

/** Checks the answer as the client would, so that the author sees mistakes. */
async function checkAnswer(credential: unknown, info: PluginInfo): Promise<string> {
  const { text, read } = checkedAnswer(credential, info)
  if (read.certificate !== undefined) {
    const { checkCertificate } = await import('./check-certificate.ts')
    checkCertificate(read.certificate)
  }
  if (read.expiresAt <= Date.now()) {
    const when = formatRfc3339(read.expiresAt)
    process.stderr.write(
      `warning: expirationTimestamp ${when} is in the past, so clients will run the plugin again at once\n`,
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
