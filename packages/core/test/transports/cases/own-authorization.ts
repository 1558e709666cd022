import { expect } from 'vitest'
import { seen } from '../admin.ts'
import { type Driver, NAMESPACES, strongest } from '../driver.ts'
import { runsAtFirst, Scene } from '../scene.ts'

export async function ownAuthorization(driver: Driver): Promise<void> {
  const credential = strongest(driver)
  await using scene = await Scene.withPlugin(driver, { credential })
  const { sandbox } = scene
  const { token } = sandbox.issueToken({ user: 'ann' })
  const askAs = (value: string) =>
    scene.ask({ path: NAMESPACES, headers: { authorization: `Bearer ${value}` } })
  const last = () => seen(sandbox).at(-1)

  expect((await askAs(token)).status).toBe(200)
  expect(last()).toMatchObject({ user: 'ann', hasClientCertificate: false })
  expect(sandbox.pluginRuns).toBe(runsAtFirst(driver))

  // Again while there are connections with our certificate.
  expect((await scene.ask()).status).toBe(200)
  expect(last()).toMatchObject({ user: 'jane', hasClientCertificate: credential === 'both' })
  expect((await askAs(token)).status).toBe(200)
  expect(last()).toMatchObject({ user: 'ann', hasClientCertificate: false })

  // A refusal of it is returned to the caller.
  const count = seen(sandbox).length
  expect((await askAs('wrong')).status).toBe(401)
  expect(seen(sandbox)).toHaveLength(count + 1)
  expect(last()).toMatchObject({ status: 401, hasClientCertificate: false })
  expect(sandbox.pluginRuns).toBe(1)
}
