import { expect } from 'vitest'
import { formatRfc3339 } from '../packages/core/src/formats/rfc3339.ts'
import type { Acquired } from '../packages/core/src/sources/source.ts'
import { type Sandbox, startSandbox } from '../packages/sandbox/src/index.ts'
import type { CaseHead } from './case.ts'
import { type RunConditions, runOnce } from './exec-plugin.ts'
import { attempt, type ExpectedError, expectFailure, Failure } from './outcome.ts'

/** One run of a plugin: its input, its output, and the result. */
export interface PluginCase extends CaseHead {
  readonly kind: 'plugin'
  readonly given: RunConditions & {
    /** An object is printed as JSON. `{{certificate}}`, `{{key}}` and `{{other key}}` are filled in. */
    readonly stdout?: string | object
    readonly exitCode?: number
    /** Replaces the real plugin. */
    readonly command?: string
  }
  /** The expected KUBERNETES_EXEC_INFO. */
  readonly info?: object
  readonly expect: ExpectedAnswer | (ExpectedError & { readonly runs: number })
}

interface ExpectedAnswer {
  readonly token?: string
  readonly certificate?: boolean
  /** RFC 3339; `null` for no expiry. */
  readonly expiresAt?: string | null
}

export async function runPluginCase({ given, info, expect: expected }: PluginCase): Promise<void> {
  await using sandbox = await startSandbox()
  const { stdout, exitCode, command, ...around } = given
  const plugin = await sandbox.plugin({
    user: 'jane',
    ...(stdout !== undefined && { stdout: await fillIn(stdout, sandbox) }),
    ...(exitCode !== undefined && { exitCode }),
  })
  const called = command === undefined ? plugin : { ...plugin, command }
  const outcome = await attempt(() => runOnce(called, around))
  if (info !== undefined) expect(sandbox.pluginExecInfos).toEqual([info])
  if ('error' in expected) {
    expectFailure(outcome, expected)
    expect(sandbox.pluginRuns).toBe(expected.runs)
  } else expectAnswer(outcome, expected)
}

async function fillIn(stdout: string | object, sandbox: Sandbox): Promise<string> {
  const text = typeof stdout === 'string' ? stdout : JSON.stringify(stdout)
  if (!text.includes('{{')) return text
  const { certificate, key } = await sandbox.issueCertificate({ user: 'jane' })
  const { key: otherKey } = await sandbox.issueCertificate({ user: 'jane' })
  const inJson = (pem: string): string => JSON.stringify(pem).slice(1, -1)
  return text
    .replace('{{certificate}}', inJson(certificate))
    .replace('{{key}}', inJson(key))
    .replace('{{other key}}', inJson(otherKey))
}

function expectAnswer(outcome: Acquired | Failure, expected: ExpectedAnswer): void {
  if (outcome instanceof Failure) throw new Error(`${outcome.code}: ${outcome.message}`)
  const { credential, expiresAt } = outcome
  expect({
    token: credential.token?.expose(),
    certificate: credential.certificate !== undefined,
    expiresAt: Number.isFinite(expiresAt) ? formatRfc3339(expiresAt) : null,
  }).toEqual({ token: undefined, certificate: false, expiresAt: null, ...expected })
}
