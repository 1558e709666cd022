import type { IncomingMessage, RequestListener } from 'node:http'
import { createAgent } from 'kubecred/https'
import { afterEach, describe, expect, it } from 'vitest'
import { type PlainServer, startPlainServer, TOKEN } from '../adapters/https/plain-server.ts'
import { readText, request } from '../adapters/https/request.ts'

let plain: PlainServer
afterEach(() => plain[Symbol.asyncDispose]())

async function start(listener: RequestListener) {
  plain = await startPlainServer(listener)
  return createAgent(plain.cluster)
}

describe('headers that a client forwards', () => {
  it('cannot be removed by naming them in Connection', async () => {
    let seen: IncomingMessage['headers'] = {}
    const agent = await start(({ headers }, response) => {
      seen = headers
      response.end()
    })
    const forwarded = { 'impersonate-user': 'guest', connection: 'keep-alive, Impersonate-User' }
    await readText(await request(plain.url, agent, { path: '/', headers: forwarded }))
    expect(seen).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'impersonate-user': 'guest' })
    const own = { authorization: 'Bearer theirs', connection: 'authorization' }
    await readText(await request(plain.url, agent, { path: '/', headers: own }))
    expect(seen.authorization).toBe('Bearer theirs')
  })

  it('reach the server without a Host, and with an unknown Expect', async () => {
    const agent = await start((_, response) => response.end('from the server'))
    for (const headers of [{}, { expect: '200-maybe' }]) {
      const answer = await request(plain.url, agent, { path: '/', headers }, { setHost: false })
      expect([answer.statusCode, await readText(answer)]).toEqual([200, 'from the server'])
    }
  })

  it('of an upgrade must not come with a body', async () => {
    const agent = await start((_, response) => response.end())
    const headers = { upgrade: 'h2c', connection: 'upgrade' }
    const sent = request(plain.url, agent, { path: '/', method: 'POST', headers, body: 'hello' })
    await expect(sent).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' })
  })
})
