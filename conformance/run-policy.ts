import { basename, dirname } from 'node:path'
import { expect } from 'vitest'
import { checkPluginPolicy } from '../packages/core/src/plugin/plugin-policy.ts'
import { type PluginCommand, startSandbox } from '../packages/sandbox/src/index.ts'
import type { CaseHead } from './case.ts'
import { runOnce } from './exec-plugin.ts'
import { attempt, type ExpectedError, expectFailure, Failure } from './outcome.ts'

/** A plugin or an allowlist entry: whether the file exists, and how it is named. */
type Named = 'present path' | 'present name' | 'missing path' | 'missing name' | 'other path'

/** Policies and plugins: every combination must have the same result. */
export interface PolicyCase extends CaseHead {
  readonly kind: 'policy'
  readonly policies: readonly string[]
  readonly allowlists: readonly (readonly Named[] | null)[]
  readonly plugins: readonly Named[]
  readonly expect: 'it runs' | ExpectedError
}

export async function runPolicyCase(given: PolicyCase): Promise<void> {
  await using sandbox = await startSandbox()
  const plugin = await sandbox.plugin({ user: 'jane' })
  const other = await sandbox.plugin({ user: 'max' })
  const commandOf = (named: Named): string => commandFor(named, plugin, other)
  for (const [type, allowlist, named] of combinations(given)) {
    const outcome = await attempt(async () => {
      const policy = checkPluginPolicy(
        { type, allowlist: allowlist?.map((entry) => ({ command: commandOf(entry) })) },
        'kuberc',
      )
      const called = { ...plugin, command: commandOf(named) }
      return runOnce(called, { policy, env: { PATH: dirname(plugin.command) } })
    })
    const combination = JSON.stringify([type, allowlist, named])
    if (given.expect !== 'it runs') expectFailure(outcome, given.expect)
    else expect(outcome, combination).not.toBeInstanceOf(Failure)
  }
}

function* combinations(
  given: PolicyCase,
): Generator<[string, readonly Named[] | undefined, Named]> {
  for (const policy of given.policies) {
    for (const allowlist of given.allowlists) {
      for (const plugin of given.plugins) yield [policy, allowlist ?? undefined, plugin]
    }
  }
}

function commandFor(named: Named, plugin: PluginCommand, other: PluginCommand): string {
  switch (named) {
    case 'present path':
      return plugin.command
    case 'present name':
      return basename(plugin.command)
    case 'missing path':
      return `${dirname(plugin.command)}/absent-plugin`
    case 'missing name':
      return 'absent-plugin'
    case 'other path':
      return other.command
  }
}
