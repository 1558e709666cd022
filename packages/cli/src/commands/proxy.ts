import { type Cluster, connect, type Observer } from 'kubecred'
import { combineObservers } from 'kubecred/metrics'
import type { Call, Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { connectOptions } from '../flags/connect-options.ts'
import { wantsJson } from '../flags/wants-json.ts'
import { LiveState } from '../page/live-state.ts'
import { createAccessLog } from '../proxy/access-log.ts'
import { announce } from '../proxy/announce.ts'
import { CleanupStack } from '../proxy/cleanup-stack.ts'
import { type Health, startHealth } from '../proxy/health.ts'
import { openPage } from '../proxy/open-page.ts'
import type { ProxyMetrics } from '../proxy/proxy-metrics.ts'
import { type ProxySettings, readSettings } from '../proxy/read-settings.ts'
import { type ServedProxy, serveProxy } from '../proxy/serve-proxy.ts'
import { listenForShutdown, type ShutdownRequest } from '../proxy/shutdown-request.ts'
import { describeEvent } from '../render/describe-event.ts'
import { printableLine } from '../render/printable.ts'
import { UnexpectedErrors } from '../render/unexpected-errors.ts'
import { userEnvironment, withoutNodeOptions } from '../run/node-options.ts'
import { refuseDebugger } from '../run/refuse-debugger.ts'
import { describeConnection } from '../session.ts'
import { UsageError } from '../usage-error.ts'

/** `proxy`: lets programs on this machine use a cluster without its credential. */
export const proxy: Run = async (call) => {
  const { io, flags, signal } = call
  wantsJson(flags)
  const settings = readSettings(flags)
  const relayed = await withoutNodeOptions(call)
  if (relayed !== undefined) return relayed
  refuseDebugger()
  const shutdown = listenForShutdown(io)
  const endings = new CleanupStack()
  try {
    const served = await start(call, settings, endings, shutdown)
    await Promise.race([shutdown.graceful, whenAborted(signal)])
    if (!signal.aborted) await endGently(call, settings, served, shutdown)
  } finally {
    await endings.run()
    shutdown.stop()
  }
  signal.throwIfAborted()
  return EXIT.done
}

/** Starts everything and announces it. Everything is registered with `endings`, so that it ends also if a start fails. */
async function start(
  call: Call,
  settings: ProxySettings,
  endings: CleanupStack,
  shutdown: ShutdownRequest,
): Promise<ServedProxy> {
  const { io, flags, log, progress, stderr, signal } = call
  const env = userEnvironment(io.env)
  const unexpected = new UnexpectedErrors(stderr, io.now)
  endings.add(() => unexpected.end())
  const state = new LiveState({ title: 'kubecred proxy', now: io.now })
  const identity = state.identity('proxy', 'proxy')
  let served: ServedProxy | undefined
  const countOpen = (): number => served?.proxy.open ?? 0
  const metrics = settings.hasMetrics ? await loadMetrics(countOpen) : undefined
  const cluster = await connect({
    ...connectOptions(flags, io),
    env,
    observer: combineObservers(
      progress.observe,
      log.observe,
      reportFailures(call),
      unexpected.observe,
      identity.observer,
      metrics?.observer,
    ),
    signal,
  })
  stderr.hideWith((text) => cluster.hideSecrets(text))
  endings.add(() => cluster.close())
  checkImpersonation(settings, cluster)
  identity.attach(cluster)
  state.addOpenCounter(countOpen)
  const { logFormat } = settings
  const onProblem = (message: string): void => stderr.line(printableLine(message))
  served = await serveProxy(cluster, settings, env, {
    onRequest(note) {
      state.recordRequest(note)
      metrics?.note(note)
    },
    onRequestEnd: logFormat && createAccessLog(logFormat, io.stdout),
    onProblem,
  })
  const { listening, header, cleanUp, proxy: running } = served
  endings.add(() => running.close({ graceMs: 0 }))
  endings.add(cleanUp)
  const health = await openHealth(settings, cluster, shutdown, metrics)
  endings.add(() => health?.close())
  const page = await openPage(state, settings, metrics, { onError: unexpected.report, onProblem })
  endings.add(() => page?.close())
  announce(call, {
    listening,
    header,
    page: page?.url,
    metrics: metrics && metricsUrl(page?.origin, health?.port),
    healthPort: health?.port,
    hasOwnSecret: settings.secretFile !== undefined,
    hasCallers: settings.callers !== undefined,
    prefix: settings.prefix,
    about: describeConnection(cluster),
  })
  return served
}

/** A request can be sent as one user only. */
function checkImpersonation({ callers }: ProxySettings, cluster: Cluster): void {
  const { as } = cluster.status()
  if (callers?.isImpersonating !== true || as === undefined) return
  throw new UsageError(
    `--impersonate-callers cannot be used, because the context already impersonates ${JSON.stringify(as)}`,
  )
}

/** The metrics are on the port of the page; without one, on that of the probes. */
function metricsUrl(origin: string | undefined, healthPort: number | undefined): string {
  return `${origin ?? `http://127.0.0.1:${healthPort}`}/metrics`
}

/** Reports failed runs without -v too: clients of the proxy receive the error, and the terminal should show it. */
function reportFailures({ log, stderr, io }: Call): Observer {
  return (event) => {
    if (event.type !== 'run-failed' || log.level > 0) return
    const text = describeEvent(event, { level: 1, now: io.now() })
    if (text !== undefined) stderr.line(text)
  }
}

/** Starts the server for probes. The proxy is not ready without a credential, nor while it shuts down. */
async function openHealth(
  { healthPort, pagePort }: ProxySettings,
  cluster: Cluster,
  { graceful: gently }: ShutdownRequest,
  metrics: ProxyMetrics | undefined,
): Promise<Health | undefined> {
  if (healthPort === undefined) return undefined
  let isEnding = false
  void gently.then(() => {
    isEnding = true
  })
  return startHealth({
    port: healthPort,
    isReady: async () => !isEnding && (await hasCredential(cluster)),
    // With a page, they are there and need its secret.
    metrics: pagePort === undefined ? metrics : undefined,
  })
}

/** Gets a credential if there is none: a proxy without requests so far must become ready too. */
function hasCredential(cluster: Cluster): Promise<boolean> {
  return cluster.credential({ signal: AbortSignal.timeout(READY_LIMIT_MS) }).then(
    () => true,
    () => false,
  )
}

/** Shorter than the timeout of a probe. */
const READY_LIMIT_MS = 2000

/** Loaded on demand, because of prom-client. */
async function loadMetrics(countOpen: () => number): Promise<ProxyMetrics> {
  const { makeProxyMetrics } = await import('../proxy/proxy-metrics.ts')
  return makeProxyMetrics(countOpen)
}

/**
 * Keeps serving until those who send requests know that the proxy is not ready, then lets open requests finish, until
 * the grace period has passed or a second signal arrives.
 */
async function endGently(
  { stderr }: Call,
  { graceMs, delayMs }: ProxySettings,
  { proxy: running }: ServedProxy,
  { immediate: atOnce }: ShutdownRequest,
): Promise<void> {
  if (delayMs > 0) {
    running.drain()
    stderr.line(`Serving for ${delayMs / 1000} s more, but not ready.`)
    await passed(delayMs, atOnce)
  }
  const { open } = running
  if (open > 0) {
    const what = open === 1 ? 'one open request' : `${open} open requests`
    stderr.line(`Waiting up to ${graceMs / 1000} s for ${what}. Press Ctrl-C again to end now.`)
  }
  const closing = running.close({ graceMs })
  await Promise.race([closing, atOnce])
}

/** Waits, but not longer than until a promise resolves. */
async function passed(delayMs: number, sooner: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, delayMs)
  })
  await Promise.race([waited, sooner])
  clearTimeout(timer)
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
