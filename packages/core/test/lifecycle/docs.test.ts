import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { backOff } from '../../src/lifecycle/back-off.ts'
import { DEFAULT_LIFECYCLE } from '../../src/lifecycle/policy.ts'

const page = readFileSync(
  new URL('../../../../docs/lifecycle.md', import.meta.url),
  'utf8',
).replace(/\s+/g, ' ')

describe('docs/lifecycle.md', () => {
  it('states the pauses of the code', () => {
    const { backoffFirstMs, backoffLimitMs, forgetRefusalsMs, refreshAheadLimitMs } =
      DEFAULT_LIFECYCLE
    expect(page).toContain(
      `double from ${backoffFirstMs / 1000} s to ${backoffLimitMs / 60_000} min`,
    )
    expect(page).toContain(`${refreshAheadLimitMs / 60_000} min)\` before its end`)
    expect(forgetRefusalsMs).toBe(60_000)
    expect(page).toContain('served for a minute makes us forget')
  })

  it('states when runs start against a server that refuses everything', () => {
    const times = [0]
    for (let count = 1; (times.at(-1) ?? 0) < 511; count += 1) {
      times.push((times.at(-1) ?? 0) + backOff(count, DEFAULT_LIFECYCLE) / 1000)
    }
    expect(page).toContain(`after ${times.join(', ')} s`)
  })
})
