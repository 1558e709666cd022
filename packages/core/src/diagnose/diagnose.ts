import type { Cluster } from '../connect/cluster.ts'
import { openCluster, targetOf } from '../connect/connect.ts'
import { type ConnectOptions, checkOptions } from '../connect/connect-options.ts'
import type { Target } from '../dial/target.ts'
import type { Connection } from '../kubeconfig/connection.ts'
import { loadAuthority } from '../node/certificate-authority.ts'
import { hostEnvironment } from '../node/environment.ts'
import { nodeFiles } from '../node/node-files.ts'
import { systemClock } from '../node/system-clock.ts'
import type { CredentialEvent } from '../ports/observer.ts'
import {
  checkContext,
  checkFiles,
  checkMethod,
  checkPlugin,
  checkPolicy,
  signerProgram,
} from './check-configuration.ts'
import { checkCredential, checkIdentity } from './check-credential.ts'
import { checkProxy, checkTcp, checkTls } from './check-network.ts'
import { type Finding, failure, type Step, type StepResult } from './finding.ts'

/** Options of `diagnose`: those of `connect()`, and a callback. */
export interface DiagnoseOptions extends ConnectOptions {
  /** Called when a step begins, to show progress. */
  readonly onStep?: (step: Step) => void
}

/**
 * Checks each step of a request, from the kubeconfig to the server's response, and yields a finding for each.
 *
 * Steps that do not depend on a failed step still run: a broken plugin does not hide a wrong CA. The plugin runs
 * once. Failures are findings, not exceptions.
 *
 * @throws {TypeError} If an option is unknown or has the wrong type.
 * @throws The reason of `signal`, if it is aborted.
 *
 * @example
 * for await (const { step, verdict, summary } of diagnose()) console.log(step, verdict, summary)
 */
export async function* diagnose({
  onStep = () => {},
  ...options
}: DiagnoseOptions = {}): AsyncGenerator<Finding, void, undefined> {
  checkOptions(options)
  const { signal, env = hostEnvironment() } = options
  const run = async (
    step: Step,
    work: () => StepResult | Promise<StepResult>,
  ): Promise<Finding> => {
    signal?.throwIfAborted()
    onStep(step)
    const startedAt = performance.now()
    const result = await attempt(work, signal)
    return { details: [], ...result, step, tookMs: Math.round(performance.now() - startedAt) }
  }

  const files = await run('kubeconfig', () => checkFiles(options, env))
  yield files
  if (files.verdict === 'error') return
  let connection: Connection | undefined
  yield await run('context', async () => {
    const checked = await checkContext(options, env)
    connection = checked.connection
    return checked.result
  })
  if (connection === undefined) return
  const { user } = connection
  yield await run('method', () => checkMethod(user))

  let mayRun = true
  const program = user.exec ?? signerProgram(user.externalSigner)
  if (program !== undefined) {
    const policy = await run('policy', () => checkPolicy(program.command, options, env))
    yield policy
    const plugin = await run('plugin', () => checkPlugin(program, options, env))
    yield plugin
    mayRun = policy.verdict !== 'error' && plugin.verdict !== 'error'
  }

  const events: CredentialEvent[] = []
  const opening = mayRun ? await open(connection, options, events) : undefined
  try {
    const times = { signal, now: () => systemClock.now() }
    const credential = await run('credential', () => {
      if (opening === undefined) return user.exec ? NOT_RUN : SIGNER_NOT_RUN
      return 'error' in opening
        ? failure(opening.error)
        : checkCredential(opening.cluster, events, times)
    })
    yield credential
    let isReached = true
    for await (const finding of checkNetwork(connection, options, run)) {
      isReached &&= finding.verdict !== 'error'
      yield finding
    }
    yield await run('identity', () => {
      if (!isReached) return NOT_REACHED
      if (opening === undefined || 'error' in opening) return NO_CREDENTIAL
      if (credential.verdict === 'error') return NO_CREDENTIAL
      return checkIdentity(opening.cluster, times)
    })
  } finally {
    if (opening !== undefined && 'cluster' in opening) await opening.cluster.close()
  }
}

type RunStep = (step: Step, work: () => StepResult | Promise<StepResult>) => Promise<Finding>

/** Checks proxy, TCP and TLS, up to the first that fails. */
async function* checkNetwork(
  connection: Connection,
  options: ConnectOptions,
  run: RunStep,
): AsyncGenerator<Finding, void, undefined> {
  const { signal, env = hostEnvironment() } = options
  let target: Target | undefined
  const proxy = await run('proxy', async () => {
    const ca = await loadAuthority(connection.cluster, nodeFiles)
    target = targetOf(connection.cluster, ca, env)
    return checkProxy(target)
  })
  yield proxy
  // A copy, because TypeScript does not narrow a variable that a closure assigns.
  const reached = target
  if (reached === undefined) return
  const tcp = await run('network', () => checkTcp(reached, signal))
  yield tcp
  if (tcp.verdict === 'error') return
  if (!reached.origin.startsWith('https:')) {
    yield await run('tls', () => PLAIN)
    return
  }
  const isSigned = connection.user.externalSigner !== undefined
  yield await run('tls', () =>
    checkTls(reached, { signal, now: () => systemClock.now(), isSigned }),
  )
}

const NOT_RUN: StepResult = { verdict: 'skipped', summary: 'skipped: the plugin cannot run' }
const SIGNER_NOT_RUN: StepResult = { verdict: 'skipped', summary: 'skipped: the signer cannot run' }
const NO_CREDENTIAL: StepResult = {
  verdict: 'skipped',
  summary: 'skipped: no credential',
}
const NOT_REACHED: StepResult = {
  verdict: 'skipped',
  summary: 'skipped: no connection to the server',
}
const PLAIN: StepResult = {
  verdict: 'warning',
  summary: 'plain http: the connection is not encrypted',
  remedy: 'Use https in the server address; over plain http no credential is sent.',
}

async function attempt(
  work: () => StepResult | Promise<StepResult>,
  signal: AbortSignal | undefined,
): Promise<StepResult> {
  try {
    return await work()
  } catch (error) {
    signal?.throwIfAborted()
    return failure(error)
  }
}

async function open(
  connection: Connection,
  options: ConnectOptions,
  events: CredentialEvent[],
): Promise<{ cluster: Cluster } | { error: unknown }> {
  const observer = (event: CredentialEvent): void => {
    events.push(event)
    options.observer?.(event)
  }
  try {
    return { cluster: await openCluster(connection, { ...options, observer, transport: 'https' }) }
  } catch (error) {
    return { error }
  }
}
