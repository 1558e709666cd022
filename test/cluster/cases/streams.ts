import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Driver } from '../../../packages/core/test/transports/driver.ts'
import type { TestCluster } from '../harness/test-cluster.ts'
import { until } from '../harness/until.ts'
import { Scene } from './scene.ts'

const EVENTS = 10
const EVERY_MS = 800

/** One watch receives every event while its credential is replaced several times. */
export async function watch(driver: Driver, cluster: TestCluster): Promise<void> {
  const namespace = await cluster.namespace()
  const user = cluster.unique('watcher')
  const make = () => cluster.token({ user, lifetimeMs: 3000 })
  const plugin = cluster.plugin().answer(make())
  using _ = plugin.answerAnew(make)
  await using scene = await Scene.open(driver, cluster, { exec: plugin.exec })
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const leave = new AbortController()
  const { status, body } = await scene.client.send({
    path: `${path}?watch=true`,
    signal: leave.signal,
  })
  expect(status).toBe(200)
  let text = ''
  body.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  body.on('error', () => {})
  const names = Array.from({ length: EVENTS }, (_, at) => `event-${at}`)
  for (const name of names) {
    await cluster.create(path, { metadata: { name } })
    // Other requests cause the credential to be replaced.
    expect(await scene.ask()).toBe(200)
    await pause(EVERY_MS)
  }
  const received = (): string[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'ADDED')
      .map(({ object }) => object.metadata.name)
  await until(() => received().length >= EVENTS)
  expect(received()).toEqual(names)
  expect((await scene.credentials(EVENTS)).length).toBeGreaterThan(1)
  expect(cluster.seen(`${path}?watch=true`).length).toBe(1)
  leave.abort()
}

/** A command in a pod of kwok, over a WebSocket. */
export async function execInPod(driver: Driver, cluster: TestCluster): Promise<void> {
  const namespace = await cluster.namespace()
  const pod = await cluster.pod(namespace)
  const user = cluster.unique('shell')
  const plugin = cluster.plugin().answer(cluster.token({ user }))
  await using scene = await Scene.open(driver, cluster, { exec: plugin.exec })
  const connection = await scene.upgrade(namespace, pod)
  expect(await connection.echo('hello')).toBe('hello')
  expect(await connection.echo('again')).toBe('again')
  await connection.close()
  expect(cluster.seen(`${namespace}/pods/${pod}/exec`)[0]).toMatchObject({
    user: { username: user },
    responseStatus: { code: 101 },
  })
}

/** The upgrade is refused with 401, and sent again with a valid token. */
export async function execRefusedOnce(driver: Driver, cluster: TestCluster): Promise<void> {
  const namespace = await cluster.namespace()
  const pod = await cluster.pod(namespace)
  const plugin = cluster.plugin().answerOnce(1, { token: 'unknown.test.token' })
  plugin.answer(cluster.token({ user: cluster.unique('shell') }))
  await using scene = await Scene.open(driver, cluster, { exec: plugin.exec })
  const connection = await scene.upgrade(namespace, pod)
  expect(await connection.echo('hello')).toBe('hello')
  await connection.close()
  expect(plugin.runs).toBe(2)
}
