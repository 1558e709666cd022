import { inspect } from 'node:util'
import { type Cluster, type ConnectOptions, type CredentialEvent, connect } from 'kubecred'
import { createMetrics } from 'kubecred/metrics'
import { Registry } from 'prom-client'
import { inject } from 'vitest'
import { spawnProgram } from '../spawn-program.ts'

/** The output of one channel. */
export interface Heard {
  readonly channel: string
  readonly text: string
}

const deep = {
  depth: 30,
  showHidden: true,
  maxStringLength: null,
  maxArrayLength: null,
  breakLength: 200,
}

/** Every way to print a value: as people, loggers and crash handlers do. */
export function writeDown(channel: string, value: unknown): Heard[] {
  return [
    { channel: `${channel}, inspected`, text: inspect(value, deep) },
    { channel: `${channel}, as JSON`, text: JSON.stringify(value, ownProperties) ?? '' },
    { channel: `${channel}, as text`, text: textsOf(value, 6).join(' ') },
    ...(value instanceof Error ? writeDownError(channel, value) : []),
  ]
}

/** A value and everything in it, each as a template literal prints it. */
function textsOf(value: unknown, depth: number): string[] {
  const isBranch = typeof value === 'object' && value !== null && depth > 0
  return [
    `${value}`,
    ...(isBranch ? Object.values(value).flatMap((each) => textsOf(each, depth - 1)) : []),
  ]
}

function writeDownError(channel: string, error: Error): Heard[] {
  const { hint, stderrTail } = error as { hint?: string; stderrTail?: string }
  const own = [error.message, error.stack, hint, stderrTail].join('\n')
  const causes = error.cause === undefined ? [] : writeDown(`${channel}'s cause`, error.cause)
  return [{ channel: `${channel}'s own words`, text: own }, ...causes]
}

/** JSON.stringify prints nothing of an error; a logger that copies its properties does. */
function ownProperties(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (!(value instanceof Error)) return value
  return {
    ...value,
    name: value.name,
    message: value.message,
    stack: value.stack,
    cause: value.cause,
  }
}

/** Uses a kubeconfig through the library, with good and bad requests, and collects everything visible. */
export async function listenToLibrary(options: ConnectOptions): Promise<Heard[]> {
  const events: CredentialEvent[] = []
  const metrics = await createMetrics({ register: new Registry() })
  const observer = (event: CredentialEvent): void => {
    events.push(event)
    metrics.observer(event)
  }
  const heard: Heard[] = []
  let cluster: Cluster | undefined
  try {
    cluster = await connect({ policy: { backoffFirstMs: 1 }, ...options, observer })
    for (const path of ['/api/v1/namespaces', '/version', '//elsewhere']) {
      const answer = await cluster.fetch(path).catch((error: unknown) => error)
      heard.push(...writeDown(`answer to ${path}`, answer))
    }
    heard.push(
      ...writeDown('credential()', await cluster.credential().catch((error: unknown) => error)),
    )
    heard.push(
      ...writeDown('status()', cluster.status()),
      ...writeDown('warnings', cluster.warnings),
    )
    heard.push(...writeDown('the cluster', cluster))
  } catch (error) {
    heard.push(...writeDown("connect()'s error", error))
  } finally {
    await cluster?.close()
  }
  for (const event of events) heard.push(...writeDown(`event ${event.type}`, event))
  heard.push(
    { channel: 'metrics', text: await metrics.register.metrics() },
    ...writeDown('the metrics as objects', await metrics.register.getMetricsAsJSON()),
  )
  return heard
}

/** The command lines with the most output. */
const COMMANDS = [
  ['fetch', '/api/v1/namespaces', '-vv'],
  ['whoami', '-o', 'json'],
]
const MORE_COMMANDS = [
  ['fetch', '/api/v1/namespaces'],
  ['fetch', '/api/v1/namespaces', '-v'],
  ['whoami', '-v=9'],
]

/** The same through the program; in the long suite at every level of -v. */
export async function listenToProgram(kubeconfig: string): Promise<Heard[]> {
  const commands = inject('isLong') ? [...COMMANDS, ...MORE_COMMANDS] : COMMANDS
  const runs = commands.map(async (command) => {
    const running = spawnProgram(...command, '--kubeconfig', kubeconfig)
    await running.end()
    return { channel: `kubecred ${command.join(' ')}`, text: running.out + running.err }
  })
  return Promise.all(runs)
}
