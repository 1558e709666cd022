import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isCredentialError } from '../../src/errors/index.ts'
import { loadPluginPolicy } from '../../src/node/load-plugin-policy.ts'
import { nodePrograms } from '../../src/node/node-programs.ts'
import { FIRST_RUN, makeSource } from '../fixtures/exec-source.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-matrix-'))
  writeFileSync(join(folder, 'plugin'), '#!/bin/sh\n', { mode: 0o755 })
})
afterAll(() => rmSync(folder, { recursive: true }))

const BOOLEANS = [true, false] as const
const POLICIES = ['', 'AllowAll', 'DenyAll', 'Allowlist', 'HIGHLYILLEGAL'] as const
const LISTS = ['nil', 'empty', 'one', 'three'] as const

interface Case {
  readonly policy: (typeof POLICIES)[number]
  readonly list: (typeof LISTS)[number]
  readonly plugin: { readonly exists: boolean; readonly isAbsolute: boolean }
  readonly entry: { readonly exists: boolean; readonly isAbsolute: boolean }
}

/** The 320 cases of client-go's TestPluginPolicy. */
const CASES: readonly Case[] = POLICIES.flatMap((policy) =>
  LISTS.flatMap((list) =>
    SIDES().flatMap((plugin) => SIDES().map((entry) => ({ policy, list, plugin, entry }))),
  ),
)

function SIDES() {
  return BOOLEANS.flatMap((exists) => BOOLEANS.map((isAbsolute) => ({ exists, isAbsolute })))
}

const commandOf = ({ exists, isAbsolute }: Case['plugin'], missing: string): string => {
  const name = exists ? 'plugin' : missing
  return isAbsolute ? join(folder, name) : name
}

function listOf({ list, entry }: Case, turn: number): readonly { command: string }[] | undefined {
  if (list === 'nil') return undefined
  const real = { command: commandOf(entry, 'missing-entry') }
  const others = [{ command: '/usr/bin/other' }, { command: 'another' }]
  if (list === 'empty') return []
  return list === 'one' ? [real] : others.toSpliced(turn % 3, 0, real)
}

function expectedOf({ policy, list, plugin, entry }: Case): RegExp {
  if (policy === 'HIGHLYILLEGAL') return /^ERR_POLICY_INVALID .*unknown policy/
  if (policy !== 'Allowlist' && list !== 'nil')
    return /^ERR_POLICY_INVALID .*allowlist does nothing/
  if (policy === 'DenyAll') return /^ERR_PLUGIN_DENIED/
  if (policy === 'Allowlist' && list === 'nil') return /^ERR_POLICY_INVALID .*unspecified/
  if (policy === 'Allowlist' && list === 'empty') return /^ERR_POLICY_INVALID .*empty/
  if (!plugin.exists) return /^ERR_PLUGIN_NOT_FOUND/
  return policy === 'Allowlist' && !entry.exists ? /^ERR_PLUGIN_DENIED/ : /^allowed$/
}

async function outcomeOf(each: Case, turn: number): Promise<string> {
  const kuberc = join(folder, 'kuberc')
  const content = {
    apiVersion: 'kubectl.config.k8s.io/v1beta1',
    kind: 'Preference',
    credentialPluginPolicy: each.policy,
    credentialPluginAllowlist: listOf(each, turn),
  }
  writeFileSync(kuberc, JSON.stringify(content), { mode: 0o600 })
  try {
    const policy = await loadPluginPolicy({ kuberc, env: {}, home: folder })
    const command = commandOf(each.plugin, 'missing-plugin')
    const { locate, sha256 } = nodePrograms({ PATH: folder })
    await makeSource({ policy, command }, { locate, sha256 }).source.acquire(FIRST_RUN)
    return 'allowed'
  } catch (error) {
    if (!isCredentialError(error)) throw error
    return `${error.code} ${error.message}`
  }
}

describe.each(POLICIES)('under the policy "%s"', (policy) => {
  it.each(LISTS)('with the allowlist %s, the results are those of client-go', async (list) => {
    const cases = CASES.filter((each) => each.policy === policy && each.list === list)
    expect(cases).toHaveLength(16)
    for (const [turn, each] of cases.entries()) {
      expect(await outcomeOf(each, turn), JSON.stringify(each)).toMatch(expectedOf(each))
    }
  })
})
