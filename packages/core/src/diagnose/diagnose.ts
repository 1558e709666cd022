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
  lookAtContext,
  lookAtFiles,
  lookAtMethod,
  lookAtPolicy,
  lookForPlugin,
  signerProgram,
} from './check-configuration.ts'
import { askIdentity, lookAtCredential } from './check-credential.ts'
import { lookAtProxy, lookAtTcp, lookAtTls } from './check-network.ts'
import { type Finding, failure, type Look, type Step } from './finding.ts'

export interface DiagnoseOptions extends ConnectOptions {
  /** Called when a step begins, so that somebody who waits can be told for what. */
  readonly onStep?: (step: Step) => void
}

/**
 * Goes the way of a request step by step, from the kubeconfig to the server's answer, and tells what it finds.
 *
 * What does not depend on a step that failed is looked at all the same: a broken plugin does not hide a
 * wrong CA. The plugin runs once.
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
  const look = async (step: Step, work: () => Look | Promise<Look>): Promise<Finding> => {
    signal?.throwIfAborted()
    onStep(step)
    const startedAt = performance.now()
    const found = await attempt(work, signal)
    return { details: [], ...found, step, tookMs: Math.round(performance.now() - startedAt) }
  }

  const files = await look('kubeconfig', () => lookAtFiles(options, env))
  yield files
  if (files.verdict === 'bad') return
  let connection: Connection | undefined
  yield await look('context', async () => {
    const seen = await lookAtContext(options, env)
    connection = seen.connection
    return seen.look
  })
  if (connection === undefined) return
  const { user } = connection
  yield await look('method', () => lookAtMethod(user))

  let mayRun = true
  const program = user.exec ?? signerProgram(user.externalSigner)
  if (program !== undefined) {
    const policy = await look('policy', () => lookAtPolicy(program.command, options, env))
    yield policy
    const plugin = await look('plugin', () => lookForPlugin(program, options, env))
    yield plugin
    mayRun = policy.verdict !== 'bad' && plugin.verdict !== 'bad'
  }

  const events: CredentialEvent[] = []
  const opening = mayRun ? await open(connection, options, events) : undefined
  try {
    const times = { signal, now: () => systemClock.now() }
    const credential = await look('credential', () => {
      if (opening === undefined) return user.exec ? NOT_RUN : SIGNER_NOT_RUN
      return 'error' in opening
        ? failure(opening.error)
        : lookAtCredential(opening.cluster, events, times)
    })
    yield credential
    let isReached = true
    for await (const finding of theWay(connection, options, look)) {
      isReached &&= finding.verdict !== 'bad'
      yield finding
    }
    yield await look('identity', () => {
      if (!isReached) return NOT_REACHED
      if (opening === undefined || 'error' in opening) return NO_CREDENTIAL
      if (credential.verdict === 'bad') return NO_CREDENTIAL
      return askIdentity(opening.cluster, times)
    })
  } finally {
    if (opening !== undefined && 'cluster' in opening) await opening.cluster.close()
  }
}

type Looking = (step: Step, work: () => Look | Promise<Look>) => Promise<Finding>

/** Proxy, network and TLS: as far as one gets. */
async function* theWay(
  connection: Connection,
  options: ConnectOptions,
  look: Looking,
): AsyncGenerator<Finding, void, undefined> {
  const { signal, env = hostEnvironment() } = options
  let target: Target | undefined
  const proxy = await look('proxy', async () => {
    const ca = await loadAuthority(connection.cluster, nodeFiles)
    target = targetOf(connection.cluster, ca, env)
    return lookAtProxy(target)
  })
  yield proxy
  const way = target
  if (way === undefined) return
  const tcp = await look('network', () => lookAtTcp(way, signal))
  yield tcp
  if (tcp.verdict === 'bad') return
  if (!way.origin.startsWith('https:')) {
    yield await look('tls', () => PLAIN)
    return
  }
  const isSigned = connection.user.externalSigner !== undefined
  yield await look('tls', () => lookAtTls(way, { signal, now: () => systemClock.now(), isSigned }))
}

const NOT_RUN: Look = { verdict: 'skipped', summary: 'the plugin cannot run' }
const SIGNER_NOT_RUN: Look = { verdict: 'skipped', summary: 'the signer cannot run' }
const NO_CREDENTIAL: Look = {
  verdict: 'skipped',
  summary: 'not asked: there is no credential to show',
}
const NOT_REACHED: Look = { verdict: 'skipped', summary: 'the server cannot be asked' }
const PLAIN: Look = {
  verdict: 'odd',
  summary: 'plain http: everybody on the way can read along',
  remedy: 'Use https in the server address; over plain http no credential is sent.',
}

async function attempt(
  work: () => Look | Promise<Look>,
  signal: AbortSignal | undefined,
): Promise<Look> {
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
