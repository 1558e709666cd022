import * as client from '@kubernetes/client-node'
import { fetch as fetch7 } from 'undici'
import { fetch as fetch6 } from 'undici-6'
import { describe, expect, it } from 'vitest'
import type { FetchDispatcher } from '../../src/adapters/client-node/client-transport.ts'
import { codesOf, Stage } from './stage.ts'

/** Returns the dispatcher that 2.x would get. */
async function dispatcherOf({ kc }: Stage): Promise<FetchDispatcher> {
  const given: FetchDispatcher[] = []
  const context = {
    getHeaders: () => ({}),
    setHeaderParam: () => {},
    setDispatcher: (dispatcher: object) => void given.push(dispatcher as FetchDispatcher),
  }
  await kc.applySecurityAuthentication(context as never)
  const [dispatcher] = given
  if (dispatcher === undefined) throw new Error('none was set')
  return dispatcher
}

const FETCHES: Readonly<Record<string, typeof fetch>> = {
  'undici 6': fetch6 as unknown as typeof fetch,
  'undici 7': fetch7 as unknown as typeof fetch,
  Node: fetch,
}
const PLACE = '/api/v1/namespaces/default/configmaps'
const LARGE = 'x'.repeat(4 * 1024 * 1024)

describe.each(Object.keys(FETCHES))('the dispatcher, with the fetch of %s', (name) => {
  async function open(plugin = {}) {
    const stage = await Stage.withPlugin(client, plugin)
    const dispatcher = await dispatcherOf(stage)
    const send = (path: string, init: RequestInit = {}) =>
      (FETCHES[name] as typeof fetch)(`${stage.sandbox.url}${path}`, {
        ...init,
        dispatcher,
      } as RequestInit)
    return { stage, send, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
  }

  it('returns status, headers and body', async () => {
    await using scene = await open()
    const response = await scene.send(PLACE)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(await response.json()).toMatchObject({ kind: 'ConfigMapList' })
  })

  it.each([
    ['text', (text: string) => text],
    ['bytes', (text: string) => Buffer.from(text)],
    ['a stream', (text: string) => new Blob([text]).stream()],
  ])('sends %s again after a 401', async (_, encode) => {
    await using scene = await open()
    await (await scene.send(PLACE)).arrayBuffer()
    scene.stage.sandbox.revoke('jane')
    const body = encode(JSON.stringify({ metadata: { name: 'new' } }))
    const headers = { 'content-type': 'application/json' }
    const response = await scene.send(PLACE, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(201)
    expect(scene.stage.sandbox.requests.map(({ status }) => status)).toEqual([200, 401, 201])
  })

  it('sends and receives bodies that are too large to record', async () => {
    await using scene = await open()
    const body = JSON.stringify({ metadata: { name: 'large' }, data: { value: LARGE.slice(2e6) } })
    const headers = { 'content-type': 'application/json' }
    const response = await scene.send(PLACE, { method: 'POST', headers, body })
    expect(response.status).toBe(201)
    expect(await response.text()).toContain(LARGE.slice(2e6))
  })

  it('is aborted by the signal, while the plugin runs and while the response arrives', async () => {
    await using scene = await open({ delayMs: 500 })
    const early = new AbortController()
    const sent = scene.send(PLACE, { signal: early.signal })
    early.abort(new Error('early'))
    await expect(sent).rejects.toThrow('early')
    const late = new AbortController()
    const watch = await scene.send(`${PLACE}?watch=true`, { signal: late.signal })
    const reading = watch.text()
    late.abort(new Error('late'))
    await expect(reading).rejects.toThrow('late')
    await expect.poll(() => scene.stage.sandbox.requests.at(-1)?.hasEnded).toBe(true)
  })

  it('fails with our error as the cause, and rejects every other server', async () => {
    await using scene = await open({ exitCode: 1 })
    expect(codesOf(await scene.send(PLACE).catch((error: unknown) => error))).toContain(
      'ERR_PLUGIN_EXITED',
    )
    const dispatcher = await dispatcherOf(scene.stage)
    const elsewhere = scene.stage.sandbox.url.replace('127.0.0.1', 'localhost')
    const init = { dispatcher } as RequestInit
    const error = await FETCHES[name]?.(elsewhere + PLACE, init).catch((reason: unknown) => reason)
    expect(codesOf(error)).toContain('ERR_FOREIGN_ORIGIN')
    expect(scene.stage.sandbox.requests).toEqual([])
  })
})

describe('the dispatcher', () => {
  it.each(['a newer', 'an older'] as const)(
    'passes %s handler no data while it is paused',
    async (form) => {
      await using stage = await Stage.withPlugin(client)
      stage.sandbox.respondWith(() => ({ status: 200, body: { value: LARGE } }))
      const dispatcher = await dispatcherOf(stage)
      let size = 0
      let resume = (): void => {}
      const ended = new Promise<void>((resolve, reject) => {
        const take = (chunk: Buffer): boolean => {
          size += chunk.length
          return false
        }
        const newer = {
          onRequestStart(controller: { resume(): void }) {
            resume = () => controller.resume()
          },
          onResponseStart: () => {},
          onResponseData(controller: { pause(): void }, chunk: Buffer) {
            if (!take(chunk)) controller.pause()
          },
          onResponseEnd: () => resolve(),
          onResponseError: (_: unknown, error: Error) => reject(error),
        }
        const older = {
          onConnect: () => {},
          onHeaders(_: number, __: unknown, go: () => void) {
            resume = go
            return true
          },
          onData: take,
          onComplete: () => resolve(),
          onError: reject,
        }
        const request = { origin: stage.sandbox.url, path: '/version', method: 'GET' }
        dispatcher.dispatch(request, form === 'a newer' ? newer : older)
      })
      await expect.poll(() => size).toBeGreaterThan(0)
      const first = size
      await new Promise((resolve) => setTimeout(resolve, 100))
      expect(size).toBe(first)
      expect(first).toBeLessThan(LARGE.length / 4)
      const timer = setInterval(() => resume(), 1)
      await ended
      clearInterval(timer)
      expect(size).toBeGreaterThan(LARGE.length)
    },
  )
})
