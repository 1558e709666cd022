import type { Cluster } from 'kubecred'
import { type Counters, count } from './counters.ts'
import type { DemoUser } from './demo-user.ts'

/** A user and its connection. */
export interface ConnectedUser {
  readonly user: DemoUser
  readonly cluster: Cluster
}

/** Returns the parts of the status line, most important first. */
export function currentState(
  counters: Counters,
  users: readonly ConnectedUser[],
  now: number,
): readonly string[] {
  const left = users.map(({ user, cluster }) => `${user.id} ${timeLeft(cluster, now)}`)
  return [
    `${count(counters.requests, 'request')}, ${counters.failed} failed`,
    `left: ${left.join(', ')}`,
    count(counters.pluginRuns, 'plugin run'),
    count(counters.signatures, 'signature'),
  ]
}

function timeLeft(cluster: Cluster, now: number): string {
  const { expiresAt } = cluster.status().credential
  return expiresAt === undefined ? '–' : `${Math.max(0, Math.ceil((expiresAt - now) / 1000))} s`
}

/** Returns the summary that is printed at the end. */
export function summaryLines(
  counters: Counters,
  users: readonly ConnectedUser[],
  seconds: number,
): readonly string[] {
  const signer = users.find(({ user }) => user.keyLocation !== undefined)?.user
  const rows: (readonly [string, string])[] = [
    ['requests', number(counters.requests)],
    ['failed', number(counters.failed)],
    ['watches interrupted', `${counters.interrupted}  (${count(counters.watched, 'event')} seen)`],
    ['revocations', number(counters.revocations)],
    ['plugin runs', number(counters.pluginRuns)],
    ['certificates rotated', number(counters.certificatesRotated)],
    ['signatures', number(counters.signatures)],
  ]
  if (signer !== undefined) {
    // Robot's key is in this process: its plugin returns it.
    rows.push([
      `${signer.id}'s private key`,
      `never in this process: it is in ${signer.keyLocation}`,
    ])
  }
  const width = Math.max(...rows.map(([name]) => name.length))
  return [
    `After ${seconds} s:`,
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
  ]
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}
