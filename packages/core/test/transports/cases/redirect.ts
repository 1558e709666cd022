import { startSandbox } from '@kubecred/sandbox'
import { expect } from 'vitest'
import { type Driver, strongest } from '../driver.ts'
import { Scene } from '../scene.ts'

export async function redirect(driver: Driver): Promise<void> {
  await using tlsThief = await startSandbox()
  await using plainThief = await startSandbox({ http: true })
  await using scene = await Scene.withPlugin(
    driver,
    { credential: strongest(driver) },
    // So that only our own check keeps the credential from the other server.
    { kubeconfig: () => ({ insecureSkipTlsVerify: true }) },
  )
  expect((await scene.ask()).status).toBe(200)
  for (const { url } of [tlsThief, plainThief]) {
    for (const status of [301, 302, 307, 308]) {
      scene.sandbox.respondWith(() => ({ status, headers: { Location: `${url}/version` } }))
      // Returned, followed without our credential, or an error: all are correct.
      const request = status > 302 ? { method: 'POST', body: '{}' } : {}
      await scene.ask({ path: '/version', ...request }).catch(() => {})
    }
  }
  for (const { requests } of [tlsThief, plainThief]) {
    const stolen = requests.filter((each) => each.hasAuthorization || each.hasClientCertificate)
    expect(stolen).toEqual([])
  }
  scene.sandbox.respondWith(undefined)
  expect((await scene.ask()).status).toBe(200)
  expect(scene.sandbox.pluginRuns).toBe(1)
}
