import type { IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/index.ts'
import { call, open } from '../client.ts'

interface Event {
  readonly type: string
  readonly object: {
    readonly code?: number
    readonly message?: string
    readonly metadata: {
      readonly name?: string
      readonly resourceVersion?: string
      readonly annotations?: unknown
    }
  }
}

const configmaps = '/api/v1/namespaces/default/configmaps'

let sandbox: Sandbox
let token: string
afterEach(async () => sandbox.close())

async function start(options: SandboxOptions = {}): Promise<void> {
  sandbox = await startSandbox(options)
  token = sandbox.issueToken({ user: 'jane' }).token
}

async function write(method: string, name: string, labels = {}): Promise<string> {
  const path = method === 'POST' ? configmaps : `${configmaps}/${name}`
  const json = { metadata: { name, labels }, data: { time: String(process.hrtime.bigint()) } }
  return (await call(sandbox, path, { method, token, json })).json.metadata.resourceVersion
}

async function watch(query: string): Promise<[AsyncIterator<string>, IncomingMessage]> {
  const response = await open(sandbox, `${configmaps}?watch=true&${query}`, { token })
  return [createInterface({ input: response })[Symbol.asyncIterator](), response]
}

async function next(lines: AsyncIterator<string>): Promise<Event> {
  return JSON.parse((await lines.next()).value)
}

async function take(lines: AsyncIterator<string>, count: number): Promise<string[]> {
  const seen: string[] = []
  for (let i = 0; i < count; i += 1) {
    const { type, object } = await next(lines)
    seen.push(`${type} ${object.metadata.name}`)
  }
  return seen
}

describe('a watch', () => {
  it('begins with the existing objects and continues with changes', async () => {
    await start()
    await write('POST', 'one')
    const [lines] = await watch('')
    expect(await take(lines, 1)).toEqual(['ADDED one'])
    await write('PUT', 'one')
    await write('POST', 'two')
    await write('DELETE', 'one')
    expect(await take(lines, 3)).toEqual(['MODIFIED one', 'ADDED two', 'DELETED one'])
  })

  it('begins after a resourceVersion', async () => {
    await start()
    const version = await write('POST', 'one')
    await write('POST', 'two')
    const [lines] = await watch(`resourceVersion=${version}`)
    expect(await take(lines, 1)).toEqual(['ADDED two'])
  })

  it('gets an Expired error if its resourceVersion is too old', async () => {
    await start({ watchWindow: 2 })
    for (const name of ['one', 'two', 'three']) await write('POST', name)
    const [lines] = await watch('resourceVersion=3')
    const event = await next(lines)
    expect(event.type).toBe('ERROR')
    expect(event.object).toMatchObject({ code: 410, reason: 'Expired' })
    expect(event.object.message).toContain('too old resource version: 3')
    expect((await lines.next()).done).toBe(true)
  })

  it('gets ADDED and DELETED when objects begin or cease to match its selector', async () => {
    await start()
    const [lines] = await watch('labelSelector=tier=web')
    await write('POST', 'one', { tier: 'db' })
    await write('PUT', 'one', { tier: 'web' })
    await write('PUT', 'one', { tier: 'db' })
    await write('DELETE', 'one')
    await write('POST', 'two', { tier: 'web' })
    expect(await take(lines, 3)).toEqual(['ADDED one', 'DELETED one', 'ADDED two'])
  })

  it('continues after its token has expired', async () => {
    await start()
    const [lines] = await watch('')
    const old = token
    token = sandbox.issueToken({ user: 'kim' }).token
    sandbox.revoke(old)
    await write('POST', 'one')
    expect(await take(lines, 1)).toEqual(['ADDED one'])
  })

  it('gets bookmarks on request, and one more at its end', async () => {
    await start({ bookmarkIntervalMs: 5 })
    const [lines] = await watch('allowWatchBookmarks=true&timeoutSeconds=1')
    const version = await write('POST', 'one')
    const seen: Event[] = []
    for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
      seen.push(JSON.parse(line.value))
    }
    expect(seen.filter(({ type }) => type === 'BOOKMARK').length).toBeGreaterThan(1)
    expect(seen.at(-1)).toMatchObject({ type: 'BOOKMARK', object: { kind: 'ConfigMap' } })
    expect(seen.at(-1)?.object.metadata.resourceVersion).toBe(version)
  })

  it('marks the end of the initial events with sendInitialEvents', async () => {
    await start()
    await write('POST', 'one')
    const [lines] = await watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan')
    expect(await take(lines, 1)).toEqual(['ADDED one'])
    const { type, object } = await next(lines)
    expect(type).toBe('BOOKMARK')
    expect(object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' })
  })

  it('closes its connection when the client disconnects', async () => {
    await start()
    const [, response] = await watch('')
    expect(sandbox.connections.open).toBe(1)
    response.destroy()
    await expect.poll(() => sandbox.connections.open).toBe(0)
    await write('POST', 'one')
  })

  it('rejects an invalid resourceVersion', async () => {
    await start()
    const answer = await call(sandbox, `${configmaps}?watch=1&resourceVersion=x`, { token })
    expect(answer.status).toBe(400)
  })
})
