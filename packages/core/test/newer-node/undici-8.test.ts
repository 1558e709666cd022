import { startSandbox } from '@kubecred/sandbox'
import { createInterceptor } from 'kubecred/undici'
import * as undici from 'undici-8'
import { expect, it } from 'vitest'
import { describeDispatcher } from '../adapters/undici/dispatcher-suite.ts'
import { describeFetch } from '../adapters/undici/fetch-suite.ts'
import { describeInterceptor } from '../adapters/undici/interceptor-suite.ts'
import { describeOrigins } from '../adapters/undici/origin-suite.ts'
import { type AnyUndici, openScene } from '../adapters/undici/scene.ts'
import { describeControl } from '../adapters/undici/steering-suite.ts'

const undici8 = undici as unknown as AnyUndici

describeDispatcher('undici 8', undici8)
describeOrigins('undici 8', undici8)
describeInterceptor('undici 8', undici8)
describeFetch('undici 8', undici8)
describeControl('undici 8', undici8, ['newer'])

it('an interceptor rejects a pool of another server, whatever the request says', async () => {
  await using thief = await startSandbox()
  await using scene = await openScene(undici8)
  const pool = new undici.Pool(thief.url, { connect: { rejectUnauthorized: false } })
  const composed = pool.compose(createInterceptor(scene.cluster))
  const options = { origin: scene.origin, path: '/version', method: 'GET' } as const
  await expect(composed.request(options)).rejects.toMatchObject({ code: 'ERR_FOREIGN_ORIGIN' })
  expect(thief.connections.opened).toBe(0)
  await pool.destroy()
})
