import { expect } from 'vitest'
import { proxyUrl, startConnectProxy, type TestProxy } from '../../fixtures/proxies.ts'
import { type Driver, strongest } from '../driver.ts'
import { Scene } from '../scene.ts'

/** A name that only the proxy can resolve, so that a direct connection fails. */
const HOST = 'sandbox.kubecred.test'

export async function proxy(driver: Driver): Promise<void> {
  const proxies: TestProxy[] = []
  await using scene = await Scene.withPlugin(
    driver,
    { credential: strongest(driver) },
    {
      kubeconfig: async ({ url }) => {
        const { port } = new URL(url)
        const started = await startConnectProxy({ to: Number(port) })
        proxies.push(started)
        return { server: `https://${HOST}:${port}`, proxyUrl: proxyUrl('http', started.port) }
      },
    },
  )
  const [tunnel] = proxies
  if (tunnel === undefined) throw new Error('no proxy')
  await using _ = tunnel
  expect(await scene.askInTurn(10)).toEqual([200])
  const { port } = new URL(scene.sandbox.url)
  expect(new Set(tunnel.asked)).toEqual(new Set([`CONNECT ${HOST}:${port}`]))
  // Transports that reuse connections do so behind a proxy, too.
  if (driver.cannot?.warm === undefined) expect(tunnel.asked.length).toBeLessThanOrEqual(2)
  const watch = await scene.watch()
  await watch.expectEvent()
  await watch.end()
  if (scene.canUpgrade) {
    const upgraded = await scene.upgrade()
    expect(await upgraded.echo('hello')).toBe('hello')
    await upgraded.close()
  }
  // The proxy got no credential of ours.
  expect(tunnel.heard.join('')).not.toMatch(/authorization/i)
}
