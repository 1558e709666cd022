import { once } from 'node:events'
import type { UnexpectedError } from 'kubecred/errors'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LiveState } from '../../src/page/live-state.ts'
import { type StartedPage, startPage } from '../../src/page/start-page.ts'
import { UsageError } from '../../src/usage-error.ts'
import { addFakeIdentity } from './fake-identity.ts'
import { BEARER, PageClient, SECRET } from './page-client.ts'

let state: LiveState
let page: StartedPage
let client: PageClient

beforeEach(async () => {
  state = new LiveState({ title: 'test', now: Date.now })
  const routes = { '/metrics': async () => ({ type: 'text/plain', body: 'up 1\n' }) } as const
  page = await startPage({ state, port: 0, secret: SECRET, routes })
  client = new PageClient(page.origin)
})
afterEach(() => page.close())

describe('actions', () => {
  it('are performed for an identity with any id', async () => {
    const { calls } = addFakeIdentity(state, 'jane@a/b ü%')
    const path = `/identities/${encodeURIComponent('jane@a/b ü%')}`
    const answer = await client.ask(`${path}/renew`, { method: 'POST', headers: BEARER })
    expect(JSON.parse(answer.body)).toMatchObject({ ok: true })
    await client.ask(`${path}/forget`, { method: 'POST', headers: BEARER })
    expect(calls).toEqual(['renew', 'forget'])
    expect(state.snapshot().timeline.map(({ kind }) => kind)).toEqual(['forgotten'])
  })

  it('need POST, no body, and an identity that exists', async () => {
    const { calls } = addFakeIdentity(state, 'jane')
    const press = async (path: string, more = {}) =>
      (await client.ask(path, { method: 'POST', headers: BEARER, ...more })).status
    expect(await press('/identities/jane/renew', { method: 'GET' })).toBe(405)
    expect(await press('/identities/jane/renew', { body: 'x' })).toBe(413)
    expect(await press('/identities/missing/renew')).toBe(404)
    expect(await press('/identities/%E0%A4%A/renew')).toBe(404)
    expect(await press('/identities/jane/delete')).toBe(404)
    expect(calls).toEqual([])
  })
})

describe('an internal error', () => {
  it('is answered with its id only, and reported with the same id', async () => {
    const errors: UnexpectedError[] = []
    const routes = {
      '/metrics': async () => {
        throw new TypeError('broken metrics, password=hunter2hunter2')
      },
    } as const
    const onError = (error: UnexpectedError): void => void errors.push(error)
    const other = await startPage({ state, port: 0, secret: SECRET, routes, onError })
    const { status, body } = await new PageClient(other.origin).ask('/metrics', { headers: BEARER })
    await other.close()
    expect(status).toBe(500)
    expect(errors).toMatchObject([{ message: 'TypeError: broken metrics, password=[secret]' }])
    expect(body).toContain(`internal error ${errors[0]?.id}`)
    expect(body).not.toContain('broken')
  })
})

/** Reads the stream of snapshots line by line. */
async function* snapshots(signal?: AbortSignal) {
  const response = await fetch(`${page.origin}/state`, { headers: BEARER, signal: signal ?? null })
  let rest = ''
  for await (const chunk of response.body ?? []) {
    const lines = (rest + Buffer.from(chunk).toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line)
  }
}

describe('the stream', () => {
  it('sends each event once, and batches events in quick succession', async () => {
    const { emit } = addFakeIdentity(state, 'jane')
    emit({ type: 'refused', status: 401 })
    const stream = snapshots()
    const first = (await stream.next()).value
    expect(first.timeline).toHaveLength(1)
    for (let at = 0; at < 50; at += 1) emit({ type: 'warning', message: `odd ${at}` })
    const second = (await stream.next()).value
    expect(second.timeline).toHaveLength(50)
    expect(second.now - first.now).toBeGreaterThanOrEqual(200)
    await stream.return(undefined)
  })

  it('skips snapshots for a slow client, but no events', async () => {
    const { emit } = addFakeIdentity(state, 'jane')
    // So large that a few snapshots fill all buffers.
    for (let at = 0; at < 5000; at += 1) addFakeIdentity(state, `many-${at}`)
    let taken = 0
    const take = state.snapshot.bind(state)
    state.snapshot = (after) => {
      taken += 1
      return take(after)
    }
    const stream = snapshots()
    const numbers: number[] = (await stream.next()).value.timeline
    for (let at = 0; at < 60; at += 1) {
      emit({ type: 'refused', status: 401 })
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(taken).toBeLessThan(8)
    while (numbers.at(-1) !== 60) {
      const { timeline } = (await stream.next()).value
      numbers.push(...timeline.map(({ number }: { number: number }) => number))
    }
    expect(numbers).toEqual(Array.from({ length: 60 }, (_, at) => at + 1))
    await stream.return(undefined)
  })

  it('is limited to 16 clients', async () => {
    const stop = new AbortController()
    const streams = Array.from({ length: 16 }, () => snapshots(stop.signal))
    await Promise.all(streams.map((stream) => stream.next()))
    expect((await client.ask('/state', { headers: BEARER })).status).toBe(503)
    stop.abort()
  })
})

describe('the listener', () => {
  it('responds while a client holds hundreds of silent connections', async () => {
    const stream = snapshots()
    await stream.next()
    const silent = Array.from({ length: 300 }, () => client.open('GET / HT'))
    await Promise.all(silent.map((socket) => once(socket, 'connect').catch(() => {})))
    expect((await client.ask('/')).status).toBe(200)
    const held = () => silent.filter((socket) => !socket.closed).length
    await expect.poll(held).toBeLessThanOrEqual(64)
    // An open page stays connected.
    addFakeIdentity(state, 'jane')
    expect((await stream.next()).value.identities).toHaveLength(1)
    for (const socket of silent) socket.destroy()
    await stream.return(undefined)
  })

  it('rejects large headers, upgrades, and Expect: 100-continue', async () => {
    const own = `Host: 127.0.0.1:${client.port}`
    const answerTo = async (text: string): Promise<string> => {
      let answer = ''
      const socket = client.open(text)
      socket.on('data', (bytes) => {
        answer += bytes
      })
      await once(socket, 'close')
      return answer
    }
    expect(await answerTo(`GET / HTTP/1.1\r\n${own}\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(
      / 431 /,
    )
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket'
    expect(await answerTo(`GET /state HTTP/1.1\r\n${own}\r\n${upgrade}\r\n\r\n`)).toBe('')
    const expects = 'Expect: 100-continue\r\nContent-Length: 5'
    expect(await answerTo(`POST / HTTP/1.1\r\n${own}\r\n${expects}\r\n\r\n`)).toBe('')
  })

  it('reports that a port is in use', async () => {
    await expect(startPage({ state, port: client.port })).rejects.toThrow(UsageError)
    await expect(startPage({ state, port: client.port })).rejects.toThrow(
      `port ${client.port} is already in use`,
    )
  })

  it.each(['', 'short', 'with spaces in it 0123456789', 'x'.repeat(201)])(
    'rejects the secret "%s"',
    async (secret) => {
      await expect(startPage({ state, port: 0, secret })).rejects.toThrow(UsageError)
    },
  )

  it('generates a long random secret by default', async () => {
    const other = await startPage({ state, port: 0 })
    const another = await startPage({ state, port: 0 })
    const [one, two] = [other.url, another.url].map((url) => new URL(url).hash)
    expect(one).toMatch(/^#[\w-]{43}$/)
    expect(one).not.toBe(two)
    await Promise.all([other.close(), another.close()])
  })

  it('closes when its signal aborts, with a stream open', async () => {
    const ending = new AbortController()
    const other = await startPage({ state, port: 0, secret: SECRET, signal: ending.signal })
    const response = await fetch(`${other.origin}/state`, { headers: BEARER })
    ending.abort()
    await other.close()
    await response.text()
    await expect(fetch(other.origin)).rejects.toThrow()
  })
})
