import { expect } from 'vitest'
import type { CaseHead } from './case.ts'
import { runOnce } from './exec-plugin.ts'
import { attempt, Failure } from './outcome.ts'

/** Runs a missing plugin repeatedly: how often is the install hint shown? */
export interface HintCase extends CaseHead {
  readonly kind: 'hint'
  readonly installHint: string
  readonly calls: number
  readonly expect: { readonly shown: number }
}

export async function runHintCase({
  installHint,
  calls,
  expect: expected,
}: HintCase): Promise<void> {
  const missing = { command: 'absent-plugin', args: [], env: {} }
  let shown = 0
  for (let call = 0; call < calls; call += 1) {
    const outcome = await attempt(() => runOnce(missing, { installHint }))
    if (outcome instanceof Failure && outcome.hint.includes(installHint)) shown += 1
  }
  expect(shown).toBe(expected.shown)
}
