import type { Sandbox } from '@kubecred/sandbox'
import { createDispatcher, type DispatcherOptions, type UndiciModule } from 'kubecred/undici'
import { describe, expect, it } from 'vitest'
import { withResolvers } from '../adapters/https/with-resolvers.ts'
import { driveDispatcher } from '../adapters/undici/drive-undici.ts'
import { asAdmin, seen } from '../transports/admin.ts'
import { type Driver, NAMESPACES } from '../transports/driver.ts'
import { distinct } from '../transports/scene.ts'
import { until } from '../transports/until.ts'
import { openSigned } from './signed-stage.ts'

const WATCH = '/api/v1/configmaps?watch=true'
const LIMIT_MS = 30_000

/** Tests limited connections with streams, unread responses, aborts and closing. */
export function describeFewConnections(version: string, load: () => Promise<UndiciModule>): void {
  const open = (options: DispatcherOptions = {}) => openSigned(driver(load, options))

  describe.concurrent(`limited connections with a signing key, ${version}`, () => {
    it(
      'are not used by watches and upgrades',
      async () => {
        await using signed = await open()
        const { stage, key } = signed
        await asAdmin(stage.sandbox, 'POST', '/api/v1/namespaces/default/pods', POD)
        const watches = await Promise.all(
          Array.from({ length: 6 }, () => stage.send({ path: WATCH })),
        )
        const upgraded = await stage.client.upgrade?.({ namespace: 'default', pod: 'web' })
        const outcomes = await Promise.all(Array.from({ length: 20 }, () => stage.outcome()))
        expect(distinct(outcomes.flat())).toEqual([200])
        expect(await upgraded?.echo('hello')).toBe('hello')
        expect(key.requests.length).toBeLessThanOrEqual(6 + 1 + 4)
        for (const { body } of watches) body.on('error', () => {}).destroy()
      },
      LIMIT_MS,
    )

    it(
      'do not delay a watch',
      async () => {
        await using signed = await open()
        const { stage } = signed
        const held = holdAnswers(stage.sandbox)
        const first = Array.from({ length: 4 }, () => stage.outcome({ path: '/held' }))
        await until(() => held.count === 4)
        const waiting = stage.outcome({ path: '/waiting' })
        const { status, body } = await stage.send({ path: WATCH })
        expect(status).toBe(200)
        expect(seen(stage.sandbox).map(({ path }) => path)).not.toContain('/waiting')
        body.on('error', () => {}).destroy()
        held.release()
        expect((await Promise.all([...first, waiting])).flat()).toEqual(Array(5).fill(200))
      },
      LIMIT_MS,
    )

    it(
      'are not blocked forever by responses that are never read',
      async () => {
        await using signed = await open()
        const { stage, key } = signed
        stage.sandbox.respondWith(({ path }) =>
          path === '/large' ? { status: 200, body: 'x'.repeat(8 * 1024 * 1024) } : undefined,
        )
        const answers = await Promise.all(
          Array.from({ length: 6 }, () => stage.send({ path: '/large' })),
        )
        expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
        expect(await stage.outcome()).toEqual([200])
        expect(key.requests.length).toBeLessThanOrEqual(8)
        for (const { body } of answers) body.on('error', () => {}).destroy()
      },
      LIMIT_MS,
    )

    it(
      'do not send a request that is aborted while it waits',
      async () => {
        await using signed = await open()
        const { stage } = signed
        const held = holdAnswers(stage.sandbox)
        const first = Array.from({ length: 4 }, () => stage.outcome({ path: '/held' }))
        await until(() => held.count === 4)
        const gone = new AbortController()
        const left = stage.outcome({ path: '/left', signal: gone.signal })
        const patient = stage.outcome()
        gone.abort(new Error('no time'))
        expect(await left).not.toEqual([200])
        held.release()
        expect((await Promise.all([...first, patient])).flat()).toEqual(Array(5).fill(200))
        expect(seen(stage.sandbox).map(({ path }) => path)).not.toContain('/left')
      },
      LIMIT_MS,
    )

    it(
      'end with the dispatcher and with the cluster, including waiting requests',
      async () => {
        for (const end of ['client', 'cluster'] as const) {
          await using signed = await open()
          const { stage } = signed
          const held = holdAnswers(stage.sandbox)
          const all = Array.from({ length: 6 }, () => stage.outcome({ path: '/held' }))
          await until(() => held.count === 4)
          await stage[end].close()
          const codes = (await Promise.all(all)).flat()
          expect(codes.filter((code) => code === 200)).toEqual([])
          const expected = end === 'client' ? 'UND_ERR_DESTROYED' : 'ERR_CLOSED'
          expect(codes.filter((code) => code === expected)).toHaveLength(6)
          held.release()
        }
      },
      LIMIT_MS,
    )

    it(
      'serve waiting requests after another certificate has replaced theirs',
      async () => {
        await using signed = await open()
        const { stage } = signed
        const held = holdAnswers(stage.sandbox)
        const all = Array.from({ length: 8 }, () => stage.outcome({ path: '/held' }))
        await until(() => held.count === 4)
        await stage.cluster.renew()
        expect(await stage.outcome()).toEqual([200])
        held.release()
        expect((await Promise.all(all)).flat()).toEqual(Array(8).fill(200))
      },
      LIMIT_MS,
    )

    it(
      'never exceed the limit of the caller',
      async () => {
        for (const connections of [2, 6]) {
          await using signed = await open({ connections })
          const { stage } = signed
          const watch = await stage.send({ path: WATCH })
          const outcomes = await Promise.all(Array.from({ length: 20 }, () => stage.outcome()))
          expect(distinct(outcomes.flat())).toEqual([200])
          expect(signed.key.requests.length).toBeLessThanOrEqual(Math.min(connections, 4 + 1))
          watch.body.on('error', () => {}).destroy()
        }
      },
      LIMIT_MS,
    )
  })
}

const POD = { metadata: { name: 'web' } }

function driver(load: () => Promise<UndiciModule>, options: DispatcherOptions): Driver {
  return {
    name: 'kubecred/undici',
    tellsErrors: 'as it is',
    async open(cluster) {
      const dispatcher = createDispatcher(cluster, await load(), options)
      return driveDispatcher(dispatcher as object, new URL(cluster.server).origin)
    },
  }
}

/** Holds all responses back until it is released. */
function holdAnswers(sandbox: Sandbox): { readonly count: number; release(): void } {
  const released = withResolvers<void>()
  let count = 0
  sandbox.respondWith(async ({ path }) => {
    if (path === NAMESPACES || path === WATCH) return undefined
    count += 1
    await released.promise
    return { status: 200, body: {} }
  })
  return {
    get count() {
      return count
    },
    release: () => released.resolve(),
  }
}
