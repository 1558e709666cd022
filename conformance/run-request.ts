import { expect, vi } from 'vitest'
import type { Cluster } from '../packages/core/src/index.ts'
import { type Sandbox, startSandbox } from '../packages/sandbox/src/index.ts'
import type { CaseHead } from './case.ts'
import type { Version } from './exec-plugin.ts'
import { attempt, type ExpectedError, expectFailure, Failure } from './outcome.ts'
import { openConnections } from './request-connections.ts'
import { type Answer, Credentials, type SandboxChoice } from './request-credentials.ts'
import { Watches } from './request-watches.ts'

/** Requests through `connect()` to a server, with a plugin whose output changes between steps. */
export interface RequestCase extends CaseHead {
  readonly kind: 'request'
  /** The case is run once for each; by default v1. */
  readonly versions?: readonly Version[]
  readonly server?: SandboxChoice
  /** Static credentials in addition to the plugin; tokens and certificates by name. */
  readonly user?: { token?: string; certificate?: string; username?: string; password?: string }
  readonly flags?: { token?: string; certificate?: string; username?: string; password?: string }
  readonly exec?:
    | false
    | { command?: string; provideClusterInfo?: boolean; notExecutable?: boolean }
  /** A CA file instead of inline data; `ca.crt` exists. */
  readonly caFile?: string
  readonly env?: Readonly<Record<string, string>>
  /** How many connections are opened; requests use them in turn. */
  readonly connections?: number
  readonly steps: readonly Step[]
  /** The expected `spec.cluster` in KUBERNETES_EXEC_INFO of the last run; `{{ca}}` and `{{server}}` are filled in, `null` means absent. */
  readonly info?: object | null
  readonly expect?: ExpectedError
}

interface Step {
  readonly plugin?: Answer
  readonly revoke?: readonly string[]
  /** Moves the clock. */
  readonly passMs?: number
  /** How many requests are sent concurrently; by default 1. */
  readonly send?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Opens a watch that stays open to the end. */
  readonly watch?: boolean
  /** Creates an object, and waits until every open watch has received it. */
  readonly create?: boolean
  readonly expect: Expected | ExpectedError
}

interface Expected {
  readonly status?: number
  /** The user that the server authenticated. */
  readonly user?: string
  /** Plugin runs since the start. */
  readonly runs?: number
  /** Connections opened since the start. */
  readonly connections?: number
}

/** The state of a case. */
interface Stage {
  readonly sandbox: Sandbox
  readonly credentials: Credentials
  readonly clusters: readonly Cluster[]
  readonly watches: Watches
  /** The behaviour of the plugin; changing it changes the plugin. */
  readonly script: { user: string; stdout: string; exitCode: number }
  readonly apiVersion: string
}

export async function runRequestCase(given: RequestCase): Promise<void> {
  for (const version of given.versions ?? ['v1']) {
    await using sandbox = await startSandbox(given.server)
    // Only `Date` is fake: the case moves the clock, and timers run normally.
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      await playIn(sandbox, given, `client.authentication.k8s.io/${version}`)
    } finally {
      vi.useRealTimers()
    }
  }
}

async function playIn(sandbox: Sandbox, given: RequestCase, apiVersion: string): Promise<void> {
  const script = { user: 'jane', stdout: '', exitCode: 0 }
  const plugin = await sandbox.plugin(script)
  const credentials = new Credentials(sandbox)
  const clusters = await attempt(() =>
    openConnections(given, sandbox, credentials, { plugin, apiVersion }),
  )
  if (clusters instanceof Failure || given.expect !== undefined) {
    expectFailure(clusters, given.expect ?? { error: 'none' })
    return
  }
  const watches = new Watches()
  const stage: Stage = { sandbox, credentials, clusters, watches, script, apiVersion }
  for (const [index, step] of given.steps.entries()) await playStep(step, index, stage)
  if (given.info !== undefined) expectInfo(given.info, sandbox)
  await watches.close()
  await Promise.all(clusters.map((cluster) => cluster.close()))
}

async function playStep(step: Step, index: number, stage: Stage): Promise<void> {
  const { sandbox, credentials, clusters, script } = stage
  for (const name of step.revoke ?? []) credentials.revoke(name)
  if (step.passMs !== undefined) vi.setSystemTime(Date.now() + step.passMs)
  if (step.plugin !== undefined) {
    script.stdout = await credentials.print(step.plugin, stage.apiVersion)
    script.exitCode = step.plugin.exitCode ?? 0
  }
  const sending = Array.from({ length: step.send ?? 1 }, (_, nth) => {
    const cluster = clusters[nth % clusters.length]
    return attempt(() => send(step, `object-${index}-${nth}`, cluster as Cluster, stage.watches))
  })
  const statuses = await Promise.all(sending)
  if ('error' in step.expect) {
    for (const status of statuses) expectFailure(status, step.expect)
    return
  }
  const seen = {
    status: statuses.length === 1 ? statuses[0] : onlyOne(statuses),
    user: sandbox.requests.at(-1)?.user,
    runs: sandbox.pluginRuns,
    connections: sandbox.connections.opened,
  }
  expect(seen, `step ${index + 1}`).toMatchObject(step.expect)
}

/** Returns the status if all responses have the same. */
function onlyOne(statuses: readonly unknown[]): unknown {
  const different = new Set(statuses)
  return different.size === 1 ? statuses[0] : [...different]
}

async function send(step: Step, name: string, cluster: Cluster, watches: Watches): Promise<number> {
  if (step.watch) return watches.open(cluster)
  const response = await cluster.fetch('/api/v1/namespaces', {
    ...(step.headers && { headers: { ...step.headers } }),
    ...(step.create && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name } }),
    }),
  })
  await response.text()
  // A connection is free one turn of the event loop after the end of the body.
  await new Promise(setImmediate)
  if (response.status === 201) await watches.see(name)
  return response.status
}

function expectInfo(info: object | null, sandbox: Sandbox): void {
  const ca = Buffer.from(sandbox.caPem).toString('base64')
  const text = JSON.stringify(info).replace('{{ca}}', ca).replace('{{server}}', sandbox.url)
  const seen = sandbox.pluginExecInfos.at(-1) as { spec: { cluster?: unknown } }
  expect(seen.spec.cluster ?? null).toEqual(JSON.parse(text))
}
