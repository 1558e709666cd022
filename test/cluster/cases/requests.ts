import { expect } from 'vitest'
import type { Driver } from '../../../packages/core/test/transports/driver.ts'
import { LARGE } from '../harness/prepare.ts'
import type { TestCluster } from '../harness/test-cluster.ts'
import { Scene } from './scene.ts'

export async function largeList(driver: Driver, cluster: TestCluster): Promise<void> {
  const { token } = cluster.token({ user: cluster.unique('reader') })
  await using scene = await Scene.open(driver, cluster, { token })
  const path = `/api/v1/namespaces/${LARGE.namespace}/configmaps`
  const { status, text } = await scene.send({ path })
  expect(status).toBe(200)
  const { items } = JSON.parse(text) as { items: { data: { filler: string } }[] }
  expect(items.length).toBe(LARGE.count)
  expect(items.every(({ data }) => data.filler.length === LARGE.bytesEach)).toBe(true)
}

export async function serverSideApply(driver: Driver, cluster: TestCluster): Promise<void> {
  const namespace = await cluster.namespace()
  const plugin = cluster.plugin().answerOnce(1, { token: 'unknown.test.token' })
  plugin.answer(cluster.token({ user: cluster.unique('writer') }))
  await using scene = await Scene.open(driver, cluster, { exec: plugin.exec })
  const path = `/api/v1/namespaces/${namespace}/configmaps/applied`
  const apply = (value: string, manager: string) =>
    scene.send({
      method: 'PATCH',
      path: `${path}?fieldManager=${manager}`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'applied' },
        data: { value },
      }),
    })
  // The first request is refused after its body was sent, and sent again with it.
  const first = await apply('one', 'a')
  if (first.status === 401) expect((await apply('one', 'a')).status).toBe(201)
  else expect(first.status).toBe(201)
  expect((await apply('two', 'a')).status).toBe(200)
  // A field of another manager: the server's error message is returned unchanged.
  const conflict = await apply('three', 'b')
  expect(conflict.status).toBe(409)
  expect(conflict.text).toContain('conflict with \\"a\\"')
  const { body } = await cluster.admin('GET', path)
  expect(body.data).toEqual({ value: 'two' })
}
