import { describe, expect, it } from 'vitest'
import { runFake } from '../run-fake.ts'

describe('kubecred demo', () => {
  it.each([
    [['--port', '65536'], 'flag --port takes a number from 0 to 65535'],
    [['--port', '-1'], 'flag --port takes a number from 0 to 65535'],
    [['--port', '80a'], 'flag --port takes a number from 0 to 65535'],
    [['--duration', 'soon'], 'flag --duration takes seconds or a time such as 1m30s'],
    [['now'], 'unexpected argument "now"'],
  ])('refuses %j', async (args, message) => {
    const { status, out, err } = await runFake(['demo', ...args])
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toContain(message)
  })

  it('refuses to run as a credential plugin', async () => {
    const { status, err } = await runFake(['demo'], { env: { KUBERNETES_EXEC_INFO: '{}' } })
    expect(status).toBe(2)
    expect(err).toContain('KUBERNETES_EXEC_INFO is set')
  })
})
