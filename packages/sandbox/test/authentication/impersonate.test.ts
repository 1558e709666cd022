import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.ts'
import { whoAmI } from '../client.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(async () => sandbox.close())

it('a member of system:masters can impersonate a user with groups, uid and extra fields', async () => {
  const { token } = sandbox.issueToken({ user: 'root', groups: ['system:masters'] })
  const headers = {
    'Impersonate-User': 'jane',
    'Impersonate-Uid': '42',
    'Impersonate-Group': ['dev', 'ops'],
    'Impersonate-Extra-Acme.com%2FScope': ['one', 'two'],
  }
  const { json } = await whoAmI(sandbox, { token, headers })
  expect(json.status.userInfo).toEqual({
    username: 'jane',
    uid: '42',
    groups: ['dev', 'ops', 'system:authenticated'],
    extra: { 'acme.com/scope': ['one', 'two'] },
  })
  expect(sandbox.requests.at(-1)?.user).toBe('jane')
})

it('other users cannot impersonate', async () => {
  const { token } = sandbox.issueToken({ user: 'kim', groups: ['dev'] })
  const { status, json } = await whoAmI(sandbox, { token, headers: { 'Impersonate-User': 'jane' } })
  expect(status).toBe(403)
  expect(json.message).toContain('User "kim" cannot impersonate resource "users"')
})

it('impersonated groups without a user are an error', async () => {
  const { token } = sandbox.issueToken({ user: 'root', groups: ['system:masters'] })
  const headers = { 'Impersonate-Group': 'dev' }
  expect((await whoAmI(sandbox, { token, headers })).status).toBe(500)
})
