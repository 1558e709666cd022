import type { Cluster } from 'kubecred'
import type { Character } from './character.ts'
import { count, type Tally } from './tally.ts'

/** Somebody who takes part. */
export interface Player {
  readonly character: Character
  readonly cluster: Cluster
}

/** How things are, in a few words each, the most important first. */
export function currentState(
  tally: Tally,
  players: readonly Player[],
  now: number,
): readonly string[] {
  const left = players.map(({ character, cluster }) => `${character.id} ${timeLeft(cluster, now)}`)
  return [
    `${count(tally.requests, 'request')}, ${tally.failed} failed`,
    `left: ${left.join(', ')}`,
    count(tally.pluginRuns, 'plugin run'),
    count(tally.signatures, 'signature'),
  ]
}

function timeLeft(cluster: Cluster, now: number): string {
  const { expiresAt } = cluster.status().credential
  return expiresAt === undefined ? '–' : `${Math.max(0, Math.ceil((expiresAt - now) / 1000))} s`
}

/** What happened, at the end. */
export function summaryLines(
  tally: Tally,
  players: readonly Player[],
  seconds: number,
): readonly string[] {
  const signer = players.find(({ character }) => character.keyIsIn !== undefined)?.character
  const rows: (readonly [string, string])[] = [
    ['requests', number(tally.requests)],
    ['failed', number(tally.failed)],
    ['watches interrupted', `${tally.interrupted}  (${count(tally.watched, 'event')} seen)`],
    ['revocations', number(tally.revocations)],
    ['plugin runs', number(tally.pluginRuns)],
    ['certificates rotated', number(tally.certificatesRotated)],
    ['signatures', number(tally.signatures)],
  ]
  if (signer !== undefined) {
    // Robot's key is another matter: a plugin hands it over, and it lives in this process.
    rows.push([`${signer.id}'s private key`, `never in this process: it is in ${signer.keyIsIn}`])
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
