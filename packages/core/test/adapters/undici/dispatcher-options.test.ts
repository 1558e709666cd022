import { createDispatcher, type UndiciModule } from 'kubecred/undici'
import * as undici from 'undici'
import * as undici6 from 'undici-6'
import { describe, expect, it } from 'vitest'
import { NotSupportedError } from '../../../src/errors/index.ts'
import { openScene } from './scene.ts'

describe('allowH2', () => {
  it.each<[string, UndiciModule]>([
    ['6', undici6],
    ['7', undici],
  ])(
    'is rejected with undici %s, which loses requests when the API server sends GOAWAY',
    async (_, module) => {
      await using scene = await openScene(undici)
      expect(() => createDispatcher(scene.cluster, module, { allowH2: true })).toThrow(
        NotSupportedError,
      )
      expect(() => createDispatcher(scene.cluster, module, { allowH2: false })).not.toThrow()
    },
  )
})

describe('connections', () => {
  it('limits connections, and refused requests do not block each other', async () => {
    await using scene = await openScene(undici, { dispatcher: { connections: 2 } })
    const ask = async (): Promise<number> => {
      const { statusCode, body } = await scene.dispatcher.request({
        path: '/api/v1/namespaces',
        method: 'GET',
      })
      await body.dump()
      return statusCode
    }
    await ask()
    scene.sandbox.revoke('jane')
    const statuses = await Promise.all(Array.from({ length: 30 }, ask))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(scene.sandbox.pluginRuns).toBe(2)
    expect(scene.sandbox.connections.opened).toBe(2)
  })
})
