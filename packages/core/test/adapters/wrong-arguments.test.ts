import { type Cluster, connect } from 'kubecred'
import { openHttp2 } from 'kubecred/http2'
import { createAgent } from 'kubecred/https'
import { createDispatcher, createInterceptor } from 'kubecred/undici'
import { openWebSocket, webSocketOptions } from 'kubecred/ws'
import * as undici from 'undici'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let cluster: Cluster
beforeEach(async () => {
  cluster = await connect({ server: 'https://127.0.0.1:1', env: {} })
})
afterEach(() => cluster.close())

describe('a forgotten await', () => {
  it.each<[string, (cluster: never) => unknown]>([
    ['createAgent', (given) => createAgent(given)],
    ['openHttp2', (given) => openHttp2(given)],
    ['openWebSocket', (given) => openWebSocket(given, '/version')],
    ['webSocketOptions', (given) => webSocketOptions(given)],
    ['createDispatcher', (given) => createDispatcher(given, undici)],
    ['createInterceptor', (given) => createInterceptor(given)],
  ])('is reported by %s', async (name, use) => {
    for (const given of [Promise.resolve(cluster), {}, null, undefined]) {
      const tried = (async () => use(given as never))()
      await expect(tried).rejects.toThrow(TypeError)
      await expect(tried).rejects.toThrow(
        `${name}() needs a Cluster, which connect() resolves with: did you forget to await connect()?`,
      )
    }
  })
})

describe('createDispatcher()', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['an empty object', {}],
    ['an Agent', new undici.Agent()],
  ])('shows how to import undici when it gets %s instead of the module', (_, module) => {
    const create = () => createDispatcher(cluster, module as never)
    expect(create).toThrow(TypeError)
    expect(create).toThrow("import * as undici from 'undici'")
  })
})

describe('createAgent()', () => {
  it.each<[string, unknown, string]>([
    ['true', true, 'createAgent() takes its options as an object, such as { direct: … }'],
    ['null', null, 'createAgent() takes its options as an object'],
    ['a misspelt option', { dirct: true }, 'has no option "dirct"; did you mean direct?'],
    ['an option of Node', { keepAlive: true }, 'has no option "keepAlive"; it has direct'],
  ])('rejects %s', (_, options, message) => {
    const create = () => createAgent(cluster, options as never)
    expect(create).toThrow(TypeError)
    expect(create).toThrow(message)
  })
})
