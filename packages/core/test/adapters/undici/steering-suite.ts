import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { Sandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import type { Dispatcher } from 'undici'
import { describe, expect, it } from 'vitest'
import { ClosedError } from '../../../src/errors/index.ts'
import { type AnyUndici, ask, NAMESPACES, openScene, type Scene, statuses } from './scene.ts'

/** More than all buffers in between can hold. */
const BIG = 'x'.repeat(24 * 1024 * 1024)
const WATCH = `${NAMESPACES}?watch=true`

/** Tests aborting, pausing and closing. */
export function describeControl(
  name: string,
  undici: AnyUndici,
  forms: readonly ('older' | 'newer')[],
): void {
  describe(`a controlled dispatcher of ${name}`, () => {
    it('does not send a request that was already aborted', async () => {
      await using scene = await openScene(undici)
      const reason = new Error('too late')
      const request = ask(scene.dispatcher, { signal: AbortSignal.abort(reason) })
      await expect(request).rejects.toBe(reason)
      expect(scene.sandbox.requests).toEqual([])
    })

    it('aborts a request while a refused credential is replaced', async () => {
      await using scene = await openScene(undici, { command: writeSlowPlugin })
      await ask(scene.dispatcher)
      scene.sandbox.revoke('jane')
      const controller = new AbortController()
      const request = ask(scene.dispatcher, { signal: controller.signal })
      const aborted = expect(request).rejects.toThrow('enough')
      await expect.poll(() => statuses(scene)).toEqual([200, 401])
      controller.abort(new Error('enough'))
      // The plugin would run forever: the abort does not wait for it.
      await aborted
    })

    for (const form of forms) {
      it(`keeps pending data while a handler with the ${form} interface pauses`, async () => {
        await using scene = await openScene(undici)
        scene.sandbox.respondWith(({ path }) =>
          path === '/big' ? { status: 200, body: BIG } : undefined,
        )
        const handler = new PausingHandler('data')
        scene.dispatcher.dispatch({ path: '/big', method: 'GET' }, handler.as(form))
        await handler.hasBegun
        for (let count = 0; count < 20; count += 1) await ask(scene.dispatcher)
        expect(handler.size).toBeLessThan(BIG.length / 2)
        handler.flow()
        await handler.hasEnded
        expect(handler.size).toBe(BIG.length)
      })

      it(`passes a refusal on unchanged to a handler with the ${form} interface that pauses`, async () => {
        // The plugin is slow, and returns the same token again.
        const kind = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' }
        const stdout = JSON.stringify({ ...kind, status: { token: 'same' } })
        await using scene = await openScene(undici, { plugin: { stdout, delayMs: 500 } })
        const text = JSON.stringify({ message: BIG })
        scene.sandbox.respondWith(() => ({ status: 401, body: text }))
        const handler = new PausingHandler('start')
        scene.dispatcher.dispatch({ path: NAMESPACES, method: 'GET' }, handler.as(form))
        await handler.hasBegun
        expect(handler.status).toBe(401)
        expect(handler.size).toBeLessThan(text.length / 2)
        expect(scene.sandbox.requests.at(-1)).not.toHaveProperty('hasEnded')
        handler.flow()
        await handler.hasEnded
        expect(handler.size).toBe(text.length)
      })
    }

    it('lets requests finish when it is closed, and accepts no more', async () => {
      await using scene = await openScene(undici)
      const { body } = await scene.dispatcher.request({ path: WATCH, method: 'GET' })
      let isClosed = false
      const closed = scene.dispatcher.close().then(() => {
        isClosed = true
      })
      await expect(ask(scene.dispatcher)).rejects.toThrow(undici.errors.ClientClosedError)
      await (await scene.cluster.fetch(NAMESPACES)).text()
      expect(isClosed).toBe(false)
      body.on('error', () => {}).destroy()
      await closed
      // Only the connection of cluster.fetch is left.
      await expect.poll(() => scene.sandbox.connections.open).toBe(1)
    })

    it('lets a request that waits for its credential finish when it is closed', async () => {
      await using scene = await openScene(undici)
      const request = ask(scene.dispatcher)
      await scene.dispatcher.close()
      expect((await request).status).toBe(200)
      await expect.poll(() => scene.sandbox.connections.open).toBe(0)
    })

    it('ends its requests when it is destroyed, and not those of another dispatcher', async () => {
      await using scene = await openScene(undici)
      const other = await openOther(undici, scene)
      const [mine, theirs] = await Promise.all(
        [scene.dispatcher, other].map((each) => each.request({ path: WATCH, method: 'GET' })),
      )
      const ended = expect(mine?.body.text()).rejects.toThrow('stop')
      await scene.dispatcher.destroy(new Error('stop'))
      await ended
      expect(theirs?.body.destroyed).toBe(false)
      expect((await ask(other)).status).toBe(200)
      const connections = scene.sandbox.requests.map(({ connection }) => connection)
      expect(new Set(connections).size).toBe(connections.length)
      theirs?.body.on('error', () => {}).destroy()
    })

    it('ends with the cluster: open requests, waiting requests and upgraded connections', async () => {
      await using scene = await openScene(undici)
      await scene.cluster.fetch('/api/v1/namespaces/default/pods', {
        method: 'POST',
        body: JSON.stringify({ metadata: { name: 'web' } }),
        headers: { 'content-type': 'application/json' },
      })
      // Another cluster with the same credential, which stays open.
      await using other = await connect({ kubeconfig: scene.kubeconfig })
      const { body } = await scene.dispatcher.request({ path: WATCH, method: 'GET' })
      const socket = await openEcho(scene, 'web')
      const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve))
      const ended = expect(body.text()).rejects.toThrow(ClosedError)
      await scene.cluster.close()
      await Promise.all([ended, closed])
      await expect(ask(scene.dispatcher)).rejects.toThrow(ClosedError)
      expect((await other.fetch(NAMESPACES)).status).toBe(200)
      expect(scene.sandbox.pluginRuns).toBe(1)
    })

    it('reports the status of a refused upgrade', async () => {
      await using scene = await openScene(undici)
      await expect(openEcho(scene, 'absent')).rejects.toMatchObject({
        code: 'ERR_UPGRADE_REFUSED',
        status: 404,
      })
      expect(statuses(scene)).toEqual([404])
    })
  })
}

async function openOther(undici: AnyUndici, { cluster }: Scene): Promise<Dispatcher> {
  const { createDispatcher } = await import('kubecred/undici')
  return createDispatcher(cluster, undici)
}

async function openEcho({ dispatcher }: Scene, pod: string): Promise<Duplex> {
  const { socket } = await dispatcher.upgrade({
    path: `/api/v1/namespaces/default/pods/${pod}/exec?command=cat&stdin=true&stdout=true`,
    method: 'POST',
    protocol: 'SPDY/3.1',
  })
  return socket
}

/** A plugin that responds once, and then never again. */
function writeSlowPlugin(sandbox: Sandbox): string {
  const { folder } = sandbox
  const { token } = sandbox.issueToken({ user: 'jane' })
  const kind = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' }
  writeFileSync(join(folder, 'answer'), JSON.stringify({ ...kind, status: { token } }))
  const script = `#!/bin/sh
if [ -e '${folder}/ran' ]; then exec sleep 600; fi
touch '${folder}/ran'
cat '${folder}/answer'
`
  writeFileSync(join(folder, 'slow-plugin'), script, { mode: 0o700 })
  return join(folder, 'slow-plugin')
}

/** A promise with its resolve function. */
class Signal {
  resolve: () => void = () => {}
  reject: (error: Error) => void = () => {}
  readonly promise = new Promise<void>((resolve, reject) => {
    this.resolve = resolve
    this.reject = reject
  })
}

/** A handler that is paused until `resume`. */
class PausingHandler {
  status = 0
  size = 0
  readonly #begun = new Signal()
  readonly #ended = new Signal()
  readonly #pausesAt: 'start' | 'data'
  #isFlowing = false
  #resume: () => void = () => {}

  constructor(pausesAt: 'start' | 'data') {
    this.#pausesAt = pausesAt
  }

  get hasBegun(): Promise<void> {
    return this.#begun.promise
  }

  get hasEnded(): Promise<void> {
    return this.#ended.promise
  }

  flow(): void {
    this.#isFlowing = true
    this.#resume()
  }

  as(form: 'older' | 'newer'): Dispatcher.DispatchHandler {
    return form === 'older' ? this.#older() : this.#newer()
  }

  #older(): Dispatcher.DispatchHandler {
    return {
      onConnect: () => {},
      onHeaders: (status, _headers, resume) => {
        this.#begin(status, resume)
        return this.#pausesAt !== 'start'
      },
      onData: (chunk) => {
        this.size += chunk.length
        return this.#isFlowing
      },
      onComplete: () => this.#ended.resolve(),
      onError: (error) => this.#fail(error),
    }
  }

  #newer(): Dispatcher.DispatchHandler {
    return {
      onRequestStart: () => {},
      onResponseStart: (controller, status) => {
        this.#begin(status, () => controller.resume())
        if (this.#pausesAt === 'start') controller.pause()
      },
      onResponseData: (controller, chunk) => {
        this.size += chunk.length
        if (!this.#isFlowing) controller.pause()
      },
      onResponseEnd: () => this.#ended.resolve(),
      onResponseError: (_controller, error) => this.#fail(error),
    }
  }

  #begin(status: number, resume: () => void): void {
    this.status = status
    this.#resume = resume
    this.#begun.resolve()
  }

  #fail(error: Error): void {
    this.#begun.reject(error)
    this.#ended.reject(error)
  }
}
