import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { ask, BEARER, startProxy } from './scene.ts'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

it('a revoked credential is renewed without the client noticing', async () => {
  const exec = await sandbox.plugin({ user: 'jane', credential: 'token' })
  await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
  await using running = await startProxy(cluster)
  expect(await ask(running.port, { path: '/api/v1/namespaces' })).toMatchObject({ status: 200 })
  sandbox.revoke('jane')
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new' } })
  const headers = { ...BEARER, 'content-type': 'application/json' }
  const answers = await Promise.all([
    ask(running.port, { path: '/api/v1/namespaces', method: 'POST', headers, body }),
    ...Array.from({ length: 20 }, () => ask(running.port, { path: '/api/v1/namespaces' })),
  ])
  expect(answers.map(({ status }) => status)).toEqual([
    201,
    ...Array.from({ length: 20 }, () => 200),
  ])
  expect(sandbox.pluginRuns).toBe(2)
})

it('the failure of a plugin is reported with its hint and without secrets', async () => {
  const stderr = 'no session: token=hush-hush-hush'
  const exec = await sandbox.plugin({ user: 'jane', credential: 'token', exitCode: 3, stderr })
  await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
  await using running = await startProxy(cluster)
  const { status, text } = await ask(running.port, { path: '/api/v1/pods' })
  expect(status).toBe(503)
  const body = JSON.parse(text)
  expect(body).toMatchObject({
    kind: 'Status',
    reason: 'ServiceUnavailable',
    code: 503,
    details: { causes: [{ reason: 'ERR_PLUGIN_EXITED' }] },
  })
  expect(body.message).toMatch(/^kubecred proxy: .*exit.*\(ERR_PLUGIN_EXITED\)\. [A-Z]/s)
  expectNoLeak([text], ['hush-hush-hush'])
  expect(running.notes).toMatchObject([{ status: 503, rejectedFor: 'ERR_PLUGIN_EXITED' }])
})

it('a missing plugin is a bad gateway', async () => {
  const exec = { command: '/nowhere/plugin' }
  await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
  await using running = await startProxy(cluster)
  expect(await ask(running.port)).toMatchObject({
    status: 502,
    text: expect.stringContaining('ERR_PLUGIN_NOT_FOUND'),
  })
})

it('an unreachable server is a bad gateway, and is used again when it is back', async () => {
  const { token } = sandbox.issueToken({ user: 'jane' })
  await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { token } }) })
  await using running = await startProxy(cluster)
  const down = sandbox.restart({ downMs: 300 })
  const answer = await ask(running.port)
  await down
  expect(answer).toMatchObject({
    status: 502,
    text: expect.stringContaining('ERR_SERVER_UNREACHABLE'),
  })
  expect(await ask(running.port, { path: '/version' })).toMatchObject({ status: 200 })
})

it('a closed cluster is unavailable', async () => {
  const { token } = sandbox.issueToken({ user: 'jane' })
  const cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { token } }) })
  await using running = await startProxy(cluster)
  await cluster.close()
  expect(await ask(running.port)).toMatchObject({
    status: 503,
    text: expect.stringContaining('ERR_CLOSED'),
  })
})

it.each(['https', 'http2', 'pool'] as const)(
  'requests work over the transport %s',
  async (transport) => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    await using cluster = await connect({ kubeconfig, transport })
    await using running = await startProxy(cluster)
    const { status, reason, headers, text } = await ask(running.port, {
      path: '/api/v1/namespaces',
    })
    expect([status, reason]).toEqual([200, 'OK'])
    expect(JSON.parse(text)).toMatchObject({ kind: 'NamespaceList' })
    expect(Object.keys(headers).filter((name) => !/^[a-z][a-z-]*$/.test(name))).toEqual([])
    const wanted = transport === 'http2' ? '2.0' : '1.1'
    expect(sandbox.requests.at(-1)).toMatchObject({ user: 'jane', httpVersion: wanted })
  },
)
