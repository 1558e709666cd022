import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.ts'
import { call, type Received, type Sent } from '../client.ts'

const configmaps = '/api/v1/namespaces/default/configmaps'

let sandbox: Sandbox
let token: string
beforeEach(async () => {
  sandbox = await startSandbox()
  token = sandbox.issueToken({ user: 'jane' }).token
})
afterEach(async () => sandbox.close())

async function ask(method: string, path: string, sent: Sent = {}): Promise<Received> {
  return call(sandbox, path, { method, token, ...sent })
}

async function create(name: string, labels = {}): Promise<Received> {
  return ask('POST', configmaps, { json: { metadata: { name, labels }, data: { a: '1' } } })
}

describe('an object', () => {
  it('is created with a uid and a resourceVersion', async () => {
    const { status, json } = await create('one')
    expect(status).toBe(201)
    expect(json).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { a: '1' } })
    expect(json.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
    expect((await ask('GET', `${configmaps}/one`)).json).toEqual(json)
    const { json: next } = await create('two')
    expect(Number(next.metadata.resourceVersion)).toBeGreaterThan(
      Number(json.metadata.resourceVersion),
    )
  })

  it('is not replaced by an update of an older version', async () => {
    const { json: first } = await create('one')
    const json = { ...first, data: { a: '2' } }
    expect((await ask('PUT', `${configmaps}/one`, { json })).json.data).toEqual({ a: '2' })
    const conflict = await ask('PUT', `${configmaps}/one`, { json })
    expect(conflict.status).toBe(409)
    expect(conflict.json.reason).toBe('Conflict')
  })

  it('keeps its version when a write changes nothing', async () => {
    const { json } = await create('one')
    expect((await ask('PUT', `${configmaps}/one`, { json })).json).toEqual(json)
  })

  const patch = (type: string, body: string): Promise<Received> =>
    ask('PATCH', `${configmaps}/one`, { body, headers: { 'content-type': `application/${type}` } })

  it.each(['merge-patch+json', 'strategic-merge-patch+json'])(
    'is changed by a %s',
    async (type) => {
      await create('one')
      const patched = await patch(type, '{"data":{"a":null,"b":"2"}}')
      expect(patched.json.data).toEqual({ b: '2' })
    },
  )

  it.each([
    ['a list', '{"metadata":{"finalizers":["x"]}}'],
    ['a directive', '{"data":{"$patch":"replace","b":"2"}}'],
  ])('is not changed by a strategic merge patch with %s, which needs a schema', async (_, body) => {
    const { json } = await create('one')
    expect((await patch('strategic-merge-patch+json', body)).status).toBe(422)
    expect((await ask('GET', `${configmaps}/one`)).json).toEqual(json)
  })

  it.each(['json-patch+json', 'apply-patch+yaml'])('is not changed by a %s', async (type) => {
    await create('one')
    expect((await patch(type, '[]')).status).toBe(415)
  })

  it('is deleted with its namespace', async () => {
    await create('one')
    await ask('DELETE', '/api/v1/namespaces/default')
    const { status, json } = await ask('GET', `${configmaps}/one`)
    expect(status).toBe(404)
    expect(json).toMatchObject({ reason: 'NotFound', details: { name: 'one', kind: 'configmaps' } })
  })

  it('is running immediately if it is a pod, and deleted with its namespace', async () => {
    const pods = '/api/v1/namespaces/default/pods'
    const { json } = await ask('POST', pods, { json: { metadata: { name: 'web' } } })
    expect(json).toMatchObject({ kind: 'Pod', status: { phase: 'Running' } })
    expect(json.spec.containers).toEqual([{ name: 'main' }])
    await ask('DELETE', '/api/v1/namespaces/default')
    expect((await ask('GET', `${pods}/web`)).status).toBe(404)
  })

  it('is not stored by a dry run', async () => {
    const path = `${configmaps}?dryRun=All`
    expect((await ask('POST', path, { json: { metadata: { name: 'one' } } })).status).toBe(201)
    expect((await ask('GET', `${configmaps}/one`)).status).toBe(404)
  })
})

describe('an invalid request', () => {
  const good = { metadata: { name: 'one' } }
  const text = { 'content-type': 'text/plain' }
  it.each([
    { name: 'bad name', sent: { json: { metadata: { name: 'No_Good' } } }, status: 422 },
    { name: 'no name', sent: { json: {} }, status: 422 },
    { name: 'bad JSON', sent: { body: '{' }, status: 400 },
    { name: 'a list', sent: { body: '[]' }, status: 400 },
    { name: 'another kind', sent: { json: { ...good, kind: 'Secret' } }, status: 400 },
    {
      name: 'a version',
      sent: { json: { metadata: { name: 'a', resourceVersion: '1' } } },
      status: 400,
    },
    {
      name: 'wrong namespace',
      sent: { json: { metadata: { name: 'a', namespace: 'b' } } },
      status: 400,
    },
    { name: 'wrong type', sent: { body: '{}', headers: text }, status: 415 },
    { name: 'no namespace', sent: { json: good }, path: '/api/v1/configmaps', status: 405 },
    {
      name: 'a missing namespace',
      sent: { json: good },
      path: '/api/v1/namespaces/no/configmaps',
      status: 404,
    },
    { name: 'an unknown kind', sent: { json: good }, path: '/api/v1/widgets', status: 404 },
    { name: 'an unknown path', sent: { json: good }, path: '/nothing', status: 404 },
  ])('with $name is answered with $status', async ({ sent, status, path = configmaps }) => {
    const answer = await ask('POST', path, sent)
    expect(answer.status).toBe(status)
    expect(answer.json).toMatchObject({ kind: 'Status', status: 'Failure', code: status })
  })

  it('for an existing name is answered with AlreadyExists', async () => {
    await create('one')
    expect((await create('one')).json).toMatchObject({ reason: 'AlreadyExists', code: 409 })
  })
})

describe('a list', () => {
  const names = ({ json }: Received): string[] =>
    json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)

  it('contains the namespaces of every cluster', async () => {
    const list = await ask('GET', '/api/v1/namespaces')
    expect(list.json).toMatchObject({ kind: 'NamespaceList', apiVersion: 'v1' })
    expect(names(list)).toEqual(['default', 'kube-public', 'kube-system'])
    expect(list.json.metadata.resourceVersion).toBe('3')
  })

  it('is returned in pages', async () => {
    const first = await ask('GET', '/api/v1/namespaces?limit=2')
    expect(names(first)).toEqual(['default', 'kube-public'])
    const more = first.json.metadata.continue
    const second = await ask('GET', `/api/v1/namespaces?limit=2&continue=${more}`)
    expect(names(second)).toEqual(['kube-system'])
    expect(second.json.metadata).not.toHaveProperty('continue')
    expect((await ask('GET', '/api/v1/namespaces?continue=x')).status).toBe(400)
  })

  it.each([
    { query: 'labelSelector=tier=web', expected: ['one'] },
    { query: 'labelSelector=tier!=web', expected: ['two', 'zero'] },
    { query: 'labelSelector=tier', expected: ['one', 'two'] },
    { query: 'labelSelector=!tier', expected: ['zero'] },
    { query: 'labelSelector=tier==db,tier', expected: ['two'] },
    { query: 'fieldSelector=metadata.name=two', expected: ['two'] },
    { query: 'fieldSelector=metadata.namespace=other', expected: [] },
  ])('can be narrowed with $query', async ({ query, expected }) => {
    await create('zero')
    await create('one', { tier: 'web' })
    await create('two', { tier: 'db' })
    expect(names(await ask('GET', `/api/v1/configmaps?${query}`))).toEqual(expected)
  })

  it.each(['labelSelector=a in (b)', 'fieldSelector=spec.x=y'])(
    'rejects %s instead of selecting everything',
    async (query) => {
      const path = `/api/v1/configmaps?${encodeURI(query)}`
      expect((await ask('GET', path)).status).toBe(400)
    },
  )
})

describe('discovery', () => {
  it.each([
    '/api',
    '/apis',
    '/api/v1',
    '/apis/authentication.k8s.io',
    '/apis/authentication.k8s.io/v1',
  ])('answers %s', async (path) => {
    expect((await ask('GET', path)).json.kind).toMatch(/^API/)
    expect((await ask('POST', path)).status).toBe(405)
  })
})
