import { once } from 'node:events'
import http from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, inject, it } from 'vitest'
import type { Served } from '../../packages/cli/test/proxy/proxy-process.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'
import { type Backend, Balancer } from './run/balancer.ts'
import { ServiceAccount } from './run/bound-tokens.ts'
import { AUDIENCE, accessLog, CallersScene } from './run/callers-scene.ts'

const cluster = new TestCluster(inject('cluster'))
const WORKERS = 8

const READ = { method: 'GET', path: '/api/v1/namespaces/default/configmaps?limit=1' }
const WRITE = {
  method: 'POST',
  path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  body: '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}',
}

/** Clients that keep their connections open, send requests without a pause, and repeat none. */
class Load {
  readonly failures: string[] = []
  readonly #running: Promise<void>[]
  done = 0
  #isOver = false

  constructor(port: number, token: string) {
    this.#running = Array.from({ length: WORKERS }, () => this.#work(port, token))
  }

  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#running)
  }

  async #work(port: number, token: string): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    for (let count = 0; !this.#isOver; count += 1) {
      const { body, ...what } = count % 5 === 0 ? WRITE : { ...READ, body: undefined }
      try {
        const request = http.request({ host: '127.0.0.1', port, ...what, headers, agent })
        const [response] = await once(request.end(body), 'response')
        const content = await text(response)
        if (response.statusCode >= 300) this.failures.push(`${response.statusCode} ${content}`)
      } catch (error) {
        this.failures.push(`${what.method}: ${error}`)
      }
      this.done += 1
    }
    agent.destroy()
  }
}

describe('two proxies behind one address', () => {
  it('are restarted one after the other under load without a failed request', async () => {
    const scene = await CallersScene.create(cluster)
    const caller = await ServiceAccount.create(cluster, scene.namespace, 'busy')
    const { token } = await caller.token([AUDIENCE])
    const balancer = new Balancer()
    const port = await balancer.listen()
    const all: Served[] = []
    const start = async (): Promise<[Served, Backend]> => {
      const hosts = `--accept-hosts=127.0.0.1:${port}`
      const served = await scene.start(hosts, '--health-port=0', '--shutdown-delay=2s')
      const backend = { port: served.said.port, healthPort: served.said.healthPort ?? 0 }
      all.push(served)
      balancer.add(backend)
      await until(() => balancer.isReady(backend))
      return [served, backend]
    }
    const first = [await start(), await start()]
    await until(async () => {
      const { port: own } = first[0]?.[1] ?? { port: 0 }
      const headers = { authorization: `Bearer ${token}`, host: `127.0.0.1:${port}` }
      const [response] = await once(http.get({ port: own, path: READ.path, headers }), 'response')
      return response.resume().statusCode === 200
    })
    const load = new Load(port, token)
    try {
      for (const [served, backend] of first) {
        const before = load.done
        await until(() => load.done > before + 10 * WORKERS)
        // As a Deployment with maxUnavailable 0: the new one is ready before the old one is asked to end.
        await start()
        expect(await served.end()).toBe(0)
        balancer.remove(backend)
      }
      const before = load.done
      await until(() => load.done > before + 10 * WORKERS)
    } finally {
      await load.end()
      balancer.close()
    }
    expect(load.failures).toEqual([])
    for (const served of all.slice(2)) expect(await served.end()).toBe(0)
    const served = all.map(accessLog)
    for (const lines of served) expect(lines.length).toBeGreaterThan(WORKERS)
    expect(new Set(served.flat().map(({ caller: name }) => name))).toEqual(new Set([caller.user]))
    process.stderr.write(
      `rolling restart: ${load.done} requests, 0 failed, by process: ${served.map((lines) => lines.length)}\n`,
    )
  })
})
