import { describe, expect, inject, it } from 'vitest'
import { runFake } from '../../packages/cli/test/run-fake.ts'
import { TestCluster } from './harness/test-cluster.ts'

const cluster = new TestCluster(inject('cluster'))

describe('the user that a real API server reports', () => {
  it('is printed by whoami', async () => {
    const user = cluster.unique('jane')
    const plugin = cluster.plugin().answer(cluster.token({ user, groups: ['suite', 'dev'] }))
    const kubeconfig = cluster.kubeconfig({ user: { exec: plugin.exec } })
    const { status, out } = await runFake(['whoami', '-o', 'json', '--kubeconfig', kubeconfig])
    expect(status).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      username: user,
      groups: ['suite', 'dev', 'system:authenticated'],
    })
    expect(plugin.runs).toBe(1)
  })

  it('is the impersonated user', async () => {
    const boss = cluster.token({ user: cluster.unique('boss') })
    const kubeconfig = cluster.kubeconfig({ user: { token: boss.token } })
    const argv = ['whoami', '-o', 'json', '--kubeconfig', kubeconfig, '--as', 'worker']
    const { status, out } = await runFake(argv)
    expect(status).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ username: 'worker' })
  })

  it('is the last step of doctor', async () => {
    const user = cluster.unique('cert')
    const kubeconfig = cluster.kubeconfig({ user: await cluster.certificate({ user }) })
    const { status, out } = await runFake(['doctor', '-o', 'json', '--kubeconfig', kubeconfig])
    const { findings } = JSON.parse(out) as { findings: { step: string; verdict: string }[] }
    expect(findings.filter(({ verdict }) => verdict === 'bad')).toEqual([])
    expect(findings.find(({ step }) => step === 'identity')).toMatchObject({
      verdict: 'ok',
      summary: user,
    })
    expect(status).toBe(0)
  })

  it('is missing for an unknown token, and doctor says what to do', async () => {
    const kubeconfig = cluster.kubeconfig({ user: { token: 'unknown.test.token' } })
    const { status, out } = await runFake(['doctor', '-o', 'json', '--kubeconfig', kubeconfig])
    const { findings } = JSON.parse(out) as { findings: { step: string; remedy?: string }[] }
    const identity = findings.find(({ step }) => step === 'identity')
    expect(identity).toMatchObject({ verdict: 'error', remedy: expect.stringMatching(/\w/) })
    expect(status).not.toBe(0)
    expect(out).not.toContain('unknown.test.token')
  })
})
