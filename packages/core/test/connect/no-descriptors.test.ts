import { fileURLToPath } from 'node:url'
import { startSandbox } from '@kubecred/sandbox'
import { describe, expect, it } from 'vitest'
import { RunningProgram } from '../fixtures/running-program.ts'

const SERVICE = fileURLToPath(new URL('../fixtures/runs-out-of-descriptors.mjs', import.meta.url))

interface Outcome {
  readonly status?: number
  readonly code?: string
  readonly text?: string
}

interface Report {
  readonly before: readonly Outcome[]
  readonly during: readonly [withPlugin: Outcome, withToken: readonly Outcome[]]
  readonly after: readonly Outcome[]
}

describe.skipIf(process.platform === 'win32')('a service without free file descriptors', () => {
  it('gets errors that say so, uses open connections, and recovers without a restart', async () => {
    await using sandbox = await startSandbox()
    const exec = await sandbox.plugin({ user: 'jane' })
    const { token } = sandbox.issueToken({ user: 'jane' })
    const kubeconfigs = [
      sandbox.writeKubeconfig({ user: { exec } }),
      sandbox.writeKubeconfig({ user: { token } }),
    ]
    const script = 'ulimit -n 80; exec "$0" "$@"'
    const service = new RunningProgram('sh', [
      ...['-c', script, process.execPath, SERVICE],
      ...kubeconfigs,
    ])
    const { status, out, err } = await service.ended()
    expect({ status, err }).toEqual({ status: 0, err: '' })
    const { before, during, after }: Report = JSON.parse(out)
    expect(before).toEqual([{ status: 200 }, { status: 200 }])
    const [withPlugin, withToken] = during
    expect(withPlugin).toMatchObject({ code: 'ERR_PLUGIN_NOT_STARTED' })
    const failed = withToken.filter((outcome) => outcome.status === undefined)
    expect(failed).toMatchObject([{ code: 'ERR_SYSTEM_EXHAUSTED' }])
    for (const { text } of [withPlugin, ...failed]) expect(text).toContain('EMFILE')
    expect(after).toEqual([{ status: 200 }, { status: 200 }])
  })
})
