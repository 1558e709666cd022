import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Driver } from '../../../packages/core/test/transports/driver.ts'
import type { TestCluster } from '../harness/test-cluster.ts'
import { until } from '../harness/until.ts'
import { Scene } from './scene.ts'

export async function staticToken(driver: Driver, cluster: TestCluster): Promise<void> {
  const { token, user } = cluster.facts.staticUser
  await using scene = await Scene.open(driver, cluster, { token })
  expect(await scene.ask()).toBe(200)
  expect(await scene.users()).toEqual([user])
}

export async function staticCertificate(driver: Driver, cluster: TestCluster): Promise<void> {
  const user = cluster.unique('holder')
  await using scene = await Scene.open(driver, cluster, await cluster.certificate({ user }))
  expect(await scene.ask()).toBe(200)
  expect(await scene.users()).toEqual([user])
  expect(await scene.credentials()).toEqual([expect.stringMatching(/^X509SHA256=/)])
}

export async function tokenFile(driver: Driver, cluster: TestCluster): Promise<void> {
  const [before, after] = [cluster.unique('before'), cluster.unique('after')]
  const file = join(cluster.folder('token'), 'token')
  writeFileSync(file, cluster.token({ user: before }).token)
  await using scene = await Scene.open(driver, cluster, { tokenFile: file })
  expect(await scene.ask()).toBe(200)
  writeFileSync(`${file}.new`, cluster.token({ user: after }).token)
  renameSync(`${file}.new`, file)
  let asked = 1
  await until(async () => {
    asked += 1
    expect(await scene.ask()).toBe(200)
    return (await scene.users(asked)).includes(after)
  })
}

export async function execToken(driver: Driver, cluster: TestCluster): Promise<void> {
  const user = cluster.unique('jane')
  const plugin = cluster.plugin().answer(cluster.token({ user }))
  await using scene = await Scene.open(driver, cluster, { exec: plugin.exec })
  for (let sent = 0; sent < 5; sent += 1) expect(await scene.ask()).toBe(200)
  expect(await scene.users(5)).toEqual([user])
  expect(plugin.runs).toBe(1)
}

export async function execCertificate(driver: Driver, cluster: TestCluster): Promise<void> {
  const user = cluster.unique('cert')
  const plugin = cluster.plugin().answer(await certificateStatus(cluster, user))
  await using scene = await Scene.open(driver, cluster, { exec: plugin.exec })
  expect(await scene.ask()).toBe(200)
  expect(await scene.users()).toEqual([user])
  expect(plugin.runs).toBe(1)
}

/** The certificate takes precedence: kube-apiserver checks it first. */
export async function execBoth(driver: Driver, cluster: TestCluster): Promise<void> {
  const user = cluster.unique('both')
  const { token } = cluster.token({ user: cluster.unique('loses') })
  const status = { ...(await certificateStatus(cluster, user)), token }
  const plugin = cluster.plugin().answer(status)
  await using scene = await Scene.open(driver, cluster, { exec: plugin.exec })
  expect(await scene.ask()).toBe(200)
  expect(await scene.users()).toEqual([user])
}

export async function impersonation(driver: Driver, cluster: TestCluster): Promise<void> {
  const [user, other] = [cluster.unique('boss'), cluster.unique('worker')]
  const { token } = cluster.token({ user })
  await using scene = await Scene.open(driver, cluster, { token, impersonate: other })
  // RBAC has no rule for the impersonated user, whatever the impersonator may do.
  expect(await scene.ask()).toBe(403)
  expect(await scene.seen()).toMatchObject([
    { user: { username: user }, impersonatedUser: { username: other } },
  ])
}

export async function certificateStatus(cluster: TestCluster, user: string, lifetimeMs?: number) {
  const pair = await cluster.certificate({ user, ...(lifetimeMs !== undefined && { lifetimeMs }) })
  return { clientCertificateData: pair.certificate, clientKeyData: pair.key }
}
