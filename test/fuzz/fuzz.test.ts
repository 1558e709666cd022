import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkOnce, type Finding, runTarget, type TargetResult } from './run-target.ts'
import { TARGETS } from './targets.ts'

/** What `tools/fuzz.mjs` asks for. */
interface Asked {
  readonly seconds: number
  readonly seed: number
  /** Empty for all. */
  readonly names: readonly string[]
  /** A file with one input, instead of changed inputs. */
  readonly input?: string
  readonly folder: string
}

const asked: Asked = JSON.parse(process.env['KUBECRED_FUZZ'] ?? '{}')
const { seconds = 1, seed = 1, names = [], input, folder = 'build/fuzz' } = asked
const unknown = names.filter((name) => !TARGETS.some((target) => target.name === name))
const chosen = TARGETS.filter(({ name }) => names.length === 0 || names.includes(name))
const shares = chosen.reduce((sum, { share = 1 }) => sum + share, 0)
const GRACE_MS = 120_000
const results: TargetResult[] = []

it('every name is that of a target', () => {
  expect(unknown, `the targets are ${TARGETS.map(({ name }) => name).join(', ')}`).toEqual([])
})

for (const target of chosen) {
  const milliseconds = (seconds * 1000 * (target.share ?? 1)) / shares
  it(`${target.name}: ${target.about}`, { timeout: milliseconds + GRACE_MS }, async () => {
    if (input !== undefined) {
      await using opened = { [Symbol.asyncDispose]: async () => {}, ...(await target.open()) }
      await checkOnce(opened, readFileSync(input), () => {})
      return
    }
    mkdirSync(folder, { recursive: true })
    const onRound = (round: number): void =>
      writeFileSync(join(folder, 'round'), `${target.name} with the seed ${round}`)
    const result = await runTarget(target, { seed, milliseconds, onRound })
    results.push(result)
    writeFileSync(join(folder, 'results.json'), JSON.stringify(results, null, 2))
    for (const [index, found] of result.findings.entries()) keep(target.name, index, found)
    expect(result.findings.map(({ what }) => what)).toEqual([])
  })
}

/** Writes an input and how to repeat it. */
function keep(name: string, index: number, { what, seed: own, input: bytes }: Finding): void {
  const file = join(folder, `${name}-${index + 1}`)
  writeFileSync(`${file}.input`, Buffer.from(bytes, 'base64'))
  const again = [
    `npm run fuzz -- --input ${file}.input ${name}`,
    `npm run fuzz -- 10 --seed ${own} ${name}`,
  ]
  writeFileSync(`${file}.txt`, `${what}\n\nTo repeat it:\n${again.join('\n')}\n`)
}
