import { readdirSync, readFileSync } from 'node:fs'
import type { HintCase } from './run-hint.ts'
import type { IdentityCase } from './run-identity.ts'
import type { KubeconfigCase } from './run-kubeconfig.ts'
import type { MetricsCase } from './run-metrics.ts'
import type { PluginCase } from './run-plugin.ts'
import type { PolicyCase } from './run-policy.ts'
import type { RequestCase } from './run-request.ts'
import type { RoundTripCase } from './run-round-trip.ts'
import type { SignerCase } from './run-signer.ts'

/** What every case says about itself. */
export interface CaseHead {
  /** The rule as a sentence. */
  readonly rule: string
  /** The line of the check-list that it covers; an id of checklist.json. */
  readonly upstream: string
  /** Where the line stands: exec package 2.1, its cache 2.2, metrics 2.3, related suites 2.4, integration 2.5; 1.x are rules without a test; 3.x are external signers. */
  readonly section: string
  /** Why we differ from client-go here on purpose. docs/compatibility.md must name the case then. */
  readonly deviation?: string
  /** Why the case cannot be run. */
  readonly skip?: string
}

export type Case =
  | HintCase
  | IdentityCase
  | KubeconfigCase
  | MetricsCase
  | PluginCase
  | PolicyCase
  | RequestCase
  | RoundTripCase
  | SignerCase

export interface NamedCase {
  /** The name of its file. */
  readonly id: string
  readonly data: Case
}

/** One line of upstream's tests. */
export interface ChecklistLine {
  readonly id: string
  readonly section: string
  readonly line: string
}

export function loadCases(): readonly NamedCase[] {
  return readdirSync(new URL('cases/', import.meta.url))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => ({
      id: name.slice(0, -'.json'.length),
      data: readJson(`cases/${name}`) as Case,
    }))
}

export function loadChecklist(): readonly ChecklistLine[] {
  return readJson('checklist.json') as ChecklistLine[]
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'))
}
