import fc from 'fast-check'
import { changedInput } from './changed-input.ts'
import type { FuzzTarget, Note, OpenTarget } from './fuzz-target.ts'

/** Each round has a seed of its own, so that the first round that fails can be repeated alone. */
const CASES_PER_ROUND = 200
/** After so many findings of one target, more of them do not help. */
const MAX_FINDINGS = 5
/** No input of the allowed size takes as long, even on a busy machine. */
const SLOW_MS = 5000

/** An input that breaks a rule. */
export interface Finding {
  readonly what: string
  readonly seed: number
  /** The smallest input that was found, in base64. */
  readonly input: string
  readonly text: string
}

/** What happened to one target. */
export interface TargetResult {
  readonly name: string
  readonly skipped?: string
  readonly cases: number
  readonly seconds: number
  readonly findings: readonly Finding[]
  /** The differences from a reference that are not findings: how many, and the first input in base64. */
  readonly differences: Readonly<Record<string, { count: number; readonly input: string }>>
}

interface RunOptions {
  readonly seed: number
  readonly milliseconds: number
  /** Called before each round with its seed. */
  readonly onRound: (seed: number) => void
}

/** Runs a target with changed inputs until its time is over. */
export async function runTarget(target: FuzzTarget, options: RunOptions): Promise<TargetResult> {
  const { name } = target
  const skipped = target.missing?.()
  const nothing = { name, cases: 0, seconds: 0, findings: [], differences: {} }
  if (skipped !== undefined) return { ...nothing, skipped }
  const opened = await target.open()
  try {
    return { ...nothing, ...(await runRounds(opened, options)) }
  } finally {
    await opened[Symbol.asyncDispose]?.()
  }
}

async function runRounds(opened: OpenTarget, { seed, milliseconds, onRound }: RunOptions) {
  const startedAt = performance.now()
  const end = startedAt + milliseconds
  const differences: Record<string, { count: number; readonly input: string }> = {}
  const findings: Finding[] = []
  const seen = new Set<string>()
  let cases = 0
  const property = fc.asyncProperty(changedInput(opened.corpus, opened.words), async (input) => {
    cases += 1
    await checkOnce(opened, input, (kind) => {
      const known = differences[kind]
      if (known === undefined) differences[kind] = { count: 1, input: input.toString('base64') }
      else known.count += 1
    })
  })
  // At least one round, however little time there is.
  for (let round = 0; round === 0 || performance.now() < end; round += 1) {
    const roundSeed = (seed + round) | 0
    onRound(roundSeed)
    const details = await fc.check(property, {
      seed: roundSeed,
      numRuns: CASES_PER_ROUND,
      interruptAfterTimeLimit: Math.max(end - performance.now(), 1000),
    })
    const [input] = details.counterexample ?? []
    if (!details.failed || input === undefined) continue
    const what = String((details.errorInstance as Error | null)?.stack ?? details.errorInstance)
    const [first = ''] = what.split('\n')
    if (!seen.has(first)) findings.push(finding(what, roundSeed, input))
    seen.add(first)
    if (findings.length >= MAX_FINDINGS) break
  }
  return { cases, seconds: (performance.now() - startedAt) / 1000, findings, differences }
}

/** Checks one input, and how long that takes. */
export async function checkOnce(opened: OpenTarget, input: Buffer, note: Note): Promise<void> {
  const startedAt = performance.now()
  // A copy: no parser may change the corpus.
  await opened.check(Buffer.from(input), note)
  const took = performance.now() - startedAt
  if (took > SLOW_MS) throw new Error(`slow: ${input.length} bytes took more than ${SLOW_MS} ms`)
}

function finding(what: string, seed: number, input: Buffer): Finding {
  return { what, seed, input: input.toString('base64'), text: input.toString('latin1') }
}
