import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { HomeScene } from '../run/home-scene.ts'
import { Served } from './proxy-process.ts'

const scene = new HomeScene()

const start = (...args: string[]): Promise<Served> =>
  Served.start(scene.home, ['--kubeconfig', scene.kubeconfig, '--port', '0', ...args])

/** A watch through the proxy, and what it has received so far. */
class Watch {
  readonly #response: IncomingMessage
  readonly closed: Promise<unknown>
  seen = ''

  private constructor(response: IncomingMessage) {
    this.#response = response
    response.setEncoding('utf8').on('data', (text: string) => {
      this.seen += text
    })
    response.on('error', () => {})
    this.closed = new Promise((resolve) => response.once('close', resolve))
  }

  static async open(proxy: Served): Promise<Watch> {
    const watch = new Watch(await proxy.open('/api/v1/namespaces?watch=1'))
    await watch.until('"default"')
    return watch
  }

  async until(text: string): Promise<void> {
    while (!this.seen.includes(text)) await once(this.#response, 'data')
  }

  close(): void {
    this.#response.destroy()
  }
}

async function createNamespace(name: string): Promise<void> {
  const { token } = scene.sandbox.issueToken({ user: 'jane' })
  const path = scene.sandbox.writeKubeconfig({ user: { token } })
  const data = JSON.stringify({ metadata: { name } })
  const { status } = await scene.home.run([
    'fetch',
    '/api/v1/namespaces',
    '-d',
    data,
    '--kubeconfig',
    path,
  ])
  expect(status).toBe(0)
}

describe('the shutdown of a proxy with an open watch', () => {
  it('waits for the watch to end, and accepts no new requests', async () => {
    const proxy = await start('--shutdown-grace', '10m')
    const watch = await Watch.open(proxy)
    proxy.running.child.kill('SIGTERM')
    await proxy.running.until('err', /Waiting up to .* for one open request/)
    await expect(proxy.status('/version')).rejects.toThrow()
    await createNamespace('at-the-end')
    await watch.until('"at-the-end"')
    watch.close()
    expect(await proxy.running.end()).toBe(0)
    expect(scene.home.leftovers()).toEqual([])
  })

  it('is immediate on a second signal', async () => {
    const proxy = await start('--shutdown-grace', '10m')
    const watch = await Watch.open(proxy)
    proxy.running.child.kill('SIGINT')
    await proxy.running.until('err', /Ctrl-C again/)
    proxy.running.child.kill('SIGINT')
    expect(await proxy.running.end()).toBe(0)
    await watch.closed
    expect(scene.home.leftovers()).toEqual([])
  })

  it('closes the watch when the grace period is over', async () => {
    const proxy = await start('--shutdown-grace', '200ms')
    const watch = await Watch.open(proxy)
    expect(await proxy.end('SIGHUP')).toBe(0)
    await watch.closed
  })

  it('after --timeout is immediate, and an error', async () => {
    const proxy = await start('--timeout', '3s', '--no-page')
    const watch = await Watch.open(proxy)
    expect(await proxy.running.end()).toBe(65)
    await watch.closed
    expect(proxy.running.err).toContain('--timeout=3s')
    expect(scene.home.leftovers()).toEqual([])
  })
})

it('a proxy that receives SIGUSR1 opens no debugger', async () => {
  const proxy = await start('--no-page')
  proxy.running.child.kill('SIGUSR1')
  expect(await proxy.status('/version')).toBe(200)
  expect(await proxy.end()).toBe(0)
  expect(proxy.running.err).toBe('')
})

it('a killed proxy leaves its folder behind, and the next one removes it', async () => {
  const killed = await start('--no-page')
  killed.running.child.kill('SIGKILL')
  await killed.running.end()
  expect(scene.home.leftovers()).toHaveLength(1)
  const next = await start('--no-page')
  expect(scene.home.leftovers()).toHaveLength(1)
  expect(await next.end()).toBe(0)
  expect(scene.home.leftovers()).toEqual([])
})
