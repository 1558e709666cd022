import { dirname, relative } from 'node:path'
import { Registry } from 'prom-client'
import { expect } from 'vitest'
import { Keeper } from '../packages/core/src/keeper/keeper.ts'
import type { Lease } from '../packages/core/src/keeper/lease.ts'
import { createMetrics, type Metrics } from '../packages/core/src/metrics/index.ts'
import { nodeCrypto } from '../packages/core/src/node/node-crypto.ts'
import { systemClock } from '../packages/core/src/node/system-clock.ts'
import { checkPluginPolicy, cleanPath } from '../packages/core/src/plugin/plugin-policy.ts'
import { type PluginCommand, type Sandbox, startSandbox } from '../packages/sandbox/src/index.ts'
import type { CaseHead } from './case.ts'
import { pluginSource } from './exec-plugin.ts'
import { attempt, Failure } from './outcome.ts'

/** The plugin's path, relative to the current folder, or a missing one. */
type Named = 'relative path' | 'missing name' | 'missing relative path' | 'missing path'

/** Consecutive plugin runs, and the metrics after each. */
export interface MetricsCase extends CaseHead {
  readonly kind: 'metrics'
  readonly metric: string
  readonly steps: readonly Step[]
}

interface Step {
  /** The credential's name; a later step with the same name replaces it. By default it is a new one. */
  readonly plugin?: string
  /** Remaining lifetime of the returned certificate; without it a token is returned. */
  readonly certificateDays?: number
  readonly exitCode?: number
  /** How often the step is repeated; by default once. */
  readonly times?: number
  readonly command?: Named
  readonly policy?: string
  readonly allowlist?: readonly Named[]
  /** All samples of the metric: their labels, and `value`. */
  readonly expect: readonly Readonly<Record<string, string | number>>[]
}

/** A plugin and its last credential. */
interface InUse {
  readonly keeper: Keeper
  readonly script: { user: string; stdout?: string; exitCode?: number }
  lease?: Lease | Failure
}

const DAY_MS = 86_400_000

export async function runMetricsCase({ metric, steps }: MetricsCase): Promise<void> {
  await using sandbox = await startSandbox()
  // X.509 has whole seconds, and the scrape must happen at a fixed time.
  const now = Math.floor(Date.now() / 1000) * 1000
  const metrics = await createMetrics({ register: new Registry(), clock: { now: () => now } })
  const inUse = new Map<string, InUse>()
  for (const [index, step] of steps.entries()) {
    for (let nth = 0; nth < (step.times ?? 1); nth += 1) {
      const name = step.plugin ?? `${index} ${nth}`
      const used = inUse.get(name) ?? (await open(step, sandbox, metrics))
      inUse.set(name, used)
      await run(used, step, sandbox, now)
    }
    expect(await samplesOf(metric, metrics.register), `step ${index + 1}`).toEqual(step.expect)
  }
  await Promise.all([...inUse.values()].map(({ keeper }) => keeper.close()))
}

async function open(
  step: Step,
  sandbox: Sandbox,
  metrics: Pick<Metrics, 'observer'>,
): Promise<InUse> {
  const script = { user: 'jane' }
  const plugin = await sandbox.plugin(script)
  const allowlist = step.allowlist?.map((named) => ({
    command: cleanPath(commandFor(named, plugin)),
  }))
  const source = pluginSource(
    { ...plugin, command: step.command ? commandFor(step.command, plugin) : plugin.command },
    { version: 'v1', policy: checkPluginPolicy({ type: step.policy, allowlist }, 'kuberc') },
  )
  const keeper = new Keeper(source, { clock: systemClock, crypto: nodeCrypto })
  keeper.watch(metrics.observer)
  return { keeper, script }
}

async function run(used: InUse, step: Step, sandbox: Sandbox, now: number): Promise<void> {
  const { keeper, script, lease } = used
  script.exitCode = step.exitCode ?? 0
  if (step.certificateDays === undefined) delete script.stdout
  else script.stdout = await certificateAnswer(sandbox, now, step.certificateDays * DAY_MS)
  used.lease = await attempt(async () => {
    if (lease === undefined || lease instanceof Failure) return keeper.lease()
    return (await keeper.replace(lease, { status: 401, headers: {} })) ?? lease
  })
}

async function certificateAnswer(
  sandbox: Sandbox,
  now: number,
  lifetimeMs: number,
): Promise<string> {
  const issued = await sandbox.issueCertificate({
    user: 'jane',
    notBefore: new Date(now),
    lifetimeMs,
  })
  return JSON.stringify({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { clientCertificateData: issued.certificate, clientKeyData: issued.key },
  })
}

function commandFor(named: Named, { command }: PluginCommand): string {
  const near = (path: string): string => `./${relative(process.cwd(), path)}`
  switch (named) {
    case 'relative path':
      return near(command)
    case 'missing name':
      return 'absent-plugin'
    case 'missing relative path':
      return near(`${dirname(command)}/absent-plugin`)
    case 'missing path':
      return `${dirname(command)}/absent-plugin`
  }
}

async function samplesOf(metric: string, register: Registry): Promise<unknown> {
  const samples = await register.getSingleMetric(metric)?.get()
  return samples?.values.map(({ labels, value }) => ({
    ...labels,
    value: value === Number.POSITIVE_INFINITY ? '+Inf' : value,
  }))
}
