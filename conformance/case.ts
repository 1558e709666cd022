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

/** The fields of every case. */
export interface CaseHead {
  /** The tested rule, as a sentence. */
  readonly rule: string
  /** The id of the line in checklist.json that it covers. */
  readonly upstream: string
  /** The section of the line: exec package 2.1, its cache 2.2, metrics 2.3, related suites 2.4, integration 2.5; 1.x are rules without a test; 3.x are external signers. */
  readonly section: string
  /** Why kubecred intentionally differs from client-go. docs/compatibility.md must then name the case. */
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

/** One line of checklist.json: a test of upstream. */
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
