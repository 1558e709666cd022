import { describe, expect, it } from 'vitest'
import {
  type CODES,
  type CredentialError,
  PluginCertificateError,
  PluginDeniedError,
  PluginEnvironmentError,
  PluginExecFormatError,
  PluginExitedError,
  PluginInputTooLargeError,
  PluginKilledError,
  PluginNeedsTerminalError,
  PluginNoOutputError,
  PluginNotExecutableError,
  PluginNotFoundError,
  PluginNotStartedError,
  PluginOutputInvalidError,
  PluginOutputTooLargeError,
  PluginSyntaxError,
  PluginTimedOutError,
  PluginVersionError,
  PolicyInvalidError,
} from '../../src/errors/index.ts'
import { PLUGIN_CODES } from '../../src/errors/plugin-errors.ts'
import type { ProcessEnd } from '../../src/ports/observer.ts'
import { linesOf, makeMetrics } from './scene.ts'

const NAME = 'rest_client_exec_plugin_call_total'

/** Returns what is counted for a run that ended like this. */
async function countOf(error: CredentialError, process?: ProcessEnd): Promise<string | undefined> {
  const metrics = await makeMetrics()
  metrics.observer({
    type: 'run-failed',
    source: { kind: 'exec', name: 'p' },
    reason: 'first',
    tookMs: 1,
    error,
    nextTryAt: 0,
    ...(process && { process }),
  })
  const [line] = linesOf(await metrics.register.metrics(), NAME)
  return line
    ?.match(/\{code="(.*)",call_status="(.*)"\} 1/)
    ?.slice(1, 3)
    .join(' ')
}

const exited = (exitStatus: number): ProcessEnd => ({ isStarted: true, exitStatus, tookMs: 1 })
const stopped: ProcessEnd = { isStarted: true, exitStatus: undefined, tookMs: 1 }
const notStarted: ProcessEnd = { ...stopped, isStarted: false }

const ROWS: readonly [CredentialError, ProcessEnd | undefined, string | undefined][] = [
  [new PluginNotFoundError('p', ''), undefined, '1 plugin_not_found_error'],
  [new PluginNotExecutableError('p', ''), undefined, '1 plugin_not_found_error'],
  [new PluginNotExecutableError('p', ''), notStarted, '1 plugin_not_found_error'],
  [new PluginExecFormatError('p', ''), notStarted, '1 plugin_not_found_error'],
  [new PluginInputTooLargeError('p', ''), notStarted, '1 plugin_not_found_error'],
  [new PluginExitedError('p', 3), exited(3), '3 plugin_execution_error'],
  [new PluginKilledError('p', 'SIGKILL'), stopped, '-1 plugin_execution_error'],
  [new PluginTimedOutError('p', ''), stopped, '-1 plugin_execution_error'],
  [new PluginOutputTooLargeError('p', ''), stopped, '-1 plugin_execution_error'],
  [new PluginNoOutputError('p', ''), exited(0), '0 no_error'],
  [new PluginSyntaxError('p', ''), exited(0), '0 no_error'],
  [new PluginVersionError('p', ''), exited(0), '0 no_error'],
  [new PluginOutputInvalidError('p', 'status', ''), exited(0), '0 no_error'],
  [new PluginCertificateError('p', ''), exited(0), '0 no_error'],
  [new PluginEnvironmentError('p', ''), notStarted, '1 client_internal_error'],
  [new PluginEnvironmentError('p', ''), undefined, undefined],
  [new PluginNotStartedError('p', ''), notStarted, '1 client_internal_error'],
  [new PluginNeedsTerminalError('p', ''), undefined, undefined],
  [new PluginDeniedError('p', ''), undefined, undefined],
  [new PolicyInvalidError('p'), undefined, undefined],
]

describe('the call status of a failed run', () => {
  it.each(ROWS.map(([error, process, counted]) => ({ code: error.code, error, process, counted })))(
    '$code: $counted',
    async ({ error, process, counted }) => {
      expect(await countOf(error, process)).toBe(counted)
    },
  )

  it('has a row for every code a plugin can fail with', () => {
    const tried = new Set(ROWS.map(([error]) => error.code))
    expect(
      Object.keys(PLUGIN_CODES).filter((code) => !tried.has(code as keyof typeof CODES)),
    ).toEqual([])
  })

  it('counts as an internal error if the code is unknown', async () => {
    const strange = { code: 'ERR_FROM_THE_FUTURE' } as unknown as CredentialError
    expect(await countOf(strange, exited(0))).toBe('1 client_internal_error')
    expect(await countOf(strange)).toBeUndefined()
  })
})
