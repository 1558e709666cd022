import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type CredentialEvent, connect } from 'kubecred'
import { afterEach, describe, expect, it } from 'vitest'
import { describeSkew } from '../../src/keeper/clock-warnings.ts'

let sandbox: Sandbox

afterEach(() => sandbox?.close())

describe('a credential that arrives expired', () => {
  it('is used with a warning, and the clock skew is reported once the server has responded', async () => {
    // The server's clock is an hour behind, so that its tokens seem to have expired long ago.
    sandbox = await startSandbox({ clockSkewMs: -3_600_000 })
    const exec = await sandbox.plugin({ user: 'jane', lifetimeMs: 60_000 })
    const warnings: string[] = []
    const observer = (event: CredentialEvent): void => {
      if (event.type === 'warning') warnings.push(event.message)
    }
    await using cluster = await connect({
      kubeconfig: sandbox.writeKubeconfig({ user: { exec } }),
      observer,
    })
    for (let count = 0; count < 10; count += 1)
      expect((await cluster.fetch('/version')).status).toBe(200)
    expect(sandbox.pluginRuns).toBe(1)
    expect(warnings).toEqual([
      expect.stringMatching(/^the credential expired 35\d\d s before it arrived/),
      expect.stringMatching(/^the clock of this machine is 3(599|600|601) s ahead of the server's/),
    ])
  })
})

describe('clock skew', () => {
  it.each([
    [1000, undefined],
    [-2000, undefined],
    [Number.NaN, undefined],
    [60_000, 'the clock of this machine is 60 s behind'],
    [-60_000, 'the clock of this machine is 60 s ahead of'],
  ])('of %i ms: %s', (skew, message) => {
    const said = describeSkew(1_000_000 + skew, 1_000_000)
    if (message === undefined) expect(said).toBeUndefined()
    else expect(said).toContain(message)
  })
})
