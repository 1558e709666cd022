import { expect, it } from 'vitest'
import { startSandbox } from '../../src/index.ts'
import { call } from '../client.ts'

const path = '/api/v1/namespaces/default/pods/web/proxy/admin/proxy?x=1'

it('the proxied option answers for a pod, with its own 401', async () => {
  await using sandbox = await startSandbox({
    onProxyRequest: (request) => ({
      status: 401,
      headers: { 'WWW-Authenticate': 'Basic' },
      body: `${request.method} ${request.namespace}/${request.name} ${request.path}`,
    }),
  })
  const { token } = sandbox.issueToken({ user: 'jane' })
  const answer = await call(sandbox, path, { token })
  expect(answer).toMatchObject({ status: 401, text: 'GET default/web /admin/proxy?x=1' })
  expect((await call(sandbox, path)).json.reason).toBe('Forbidden')
})

it('a proxy request is answered with 404 by default', async () => {
  await using sandbox = await startSandbox()
  const { token } = sandbox.issueToken({ user: 'jane' })
  expect((await call(sandbox, path, { token })).json.message).toBe('pods "web" not found')
})
