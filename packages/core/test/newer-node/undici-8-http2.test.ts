import * as undici from 'undici-8'
import { describe, expect, it } from 'vitest'
import { type AnyUndici, ask, NAMESPACES, openScene, type Scene } from '../adapters/undici/scene.ts'

const undici8 = undici as unknown as AnyUndici
const WATCH = `${NAMESPACES}?watch=true`
const POST = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ metadata: { name: 'made' } }),
} as const

const open = (options = {}): Promise<Scene> =>
  openScene(undici8, { dispatcher: { allowH2: true }, ...options })
const versions = ({ sandbox }: Scene): Set<string> =>
  new Set(sandbox.requests.map(({ httpVersion }) => httpVersion))

describe('HTTP/2 with undici 8', () => {
  it('is not used by default', async () => {
    await using scene = await openScene(undici8)
    await ask(scene.dispatcher)
    expect(versions(scene)).toEqual(new Set(['1.1']))
  })

  it('carries watches and requests over one connection', async () => {
    await using scene = await open()
    const watches = await Promise.all(
      Array.from({ length: 10 }, () => scene.dispatcher.request({ path: WATCH, method: 'GET' })),
    )
    await Promise.all(Array.from({ length: 50 }, () => ask(scene.dispatcher)))
    expect(versions(scene)).toEqual(new Set(['2.0']))
    expect(scene.sandbox.connections.opened).toBe(1)
    for (const { body } of watches) body.on('error', () => {}).destroy()
  })

  it('refreshes once for a hundred requests with a revoked token, whatever happens to their connection', async () => {
    await using scene = await open()
    const watch = await scene.dispatcher.request({ path: WATCH, method: 'GET' })
    scene.sandbox.revoke('jane')
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(scene.dispatcher)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(scene.sandbox.pluginRuns).toBe(2)
    // The server has sent GOAWAY; open streams continue.
    expect(watch.body.destroyed).toBe(false)
    await scene.dispatcher.request({ path: NAMESPACES, ...POST })
    const [chunk] = await watch.body.take(1).toArray()
    expect(String(chunk)).toContain('ADDED')
  })

  it('is not used with a server that does not support it', async () => {
    await using scene = await open({ sandbox: { http2: false } })
    const watch = await scene.dispatcher.request({ path: WATCH, method: 'GET' })
    const [made] = await Promise.all([
      ask(scene.dispatcher, POST),
      ...Array.from({ length: 20 }, () => ask(scene.dispatcher)),
    ])
    expect(made.status).toBe(201)
    expect((await ask(scene.dispatcher)).status).toBe(200)
    expect(versions(scene)).toEqual(new Set(['1.1']))
    expect(scene.sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
    watch.body.on('error', () => {}).destroy()
  })

  it('is not used with an older fetch, which does not support it', async () => {
    await using scene = await open()
    const before = undici.getGlobalDispatcher()
    undici8.setGlobalDispatcher(scene.dispatcher)
    try {
      expect((await fetch(scene.origin + NAMESPACES)).status).toBe(200)
    } finally {
      undici.setGlobalDispatcher(before)
    }
    expect(versions(scene)).toEqual(new Set(['1.1']))
  })
})
