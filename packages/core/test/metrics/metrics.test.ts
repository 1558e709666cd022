import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'kubecred'
import { combineObservers } from 'kubecred/metrics'
import { FakeClock } from 'kubecred/testing'
import { describe, expect, it } from 'vitest'
import { PluginExitedError } from '../../src/errors/index.ts'
import type { CredentialEvent, SourceLabel } from '../../src/ports/observer.ts'
import { linesOf, makeMetrics, openScene, request } from './scene.ts'

const TTL = 'rest_client_exec_plugin_ttl_seconds'
const AGE = 'rest_client_exec_plugin_certificate_rotation_age'
const plugin: SourceLabel = { kind: 'exec', name: 'plugin' }

const renewed = (source: SourceLabel, more: object = {}): CredentialEvent => ({
  type: 'run-succeeded',
  source,
  reason: 'first',
  tookMs: 1,
  isSame: false,
  expiresAt: undefined,
  parts: [],
  ...more,
})

describe('the time to live', () => {
  const started = async () => {
    const clock = new FakeClock(1_000_000)
    const metrics = await makeMetrics(clock)
    const ttl = async () => linesOf(await metrics.register.metrics(), TTL)
    const renew = (source: SourceLabel, notAfter?: number) =>
      metrics.observer(
        renewed(source, notAfter === undefined ? {} : { certificate: { notBefore: 0, notAfter } }),
      )
    return { clock, metrics, ttl, renew }
  }

  it('is infinite before there is a certificate', async () => {
    const { ttl } = await started()
    expect(await ttl()).toEqual([`${TTL} +Inf`])
  })

  it('goes down with the clock, and below zero once the certificate has expired', async () => {
    const { clock, ttl, renew } = await started()
    renew(plugin, 1_060_000)
    expect(await ttl()).toEqual([`${TTL} 60`])
    clock.advance(59_500)
    expect(await ttl()).toEqual([`${TTL} 0.5`])
    clock.advance(10_500)
    expect(await ttl()).toEqual([`${TTL} -10`])
  })

  it('distinguishes keepers whose plugins have the same name', async () => {
    const { ttl, renew, metrics } = await started()
    const twin = { ...plugin }
    renew(plugin, 1_060_000)
    renew(twin, 1_020_000)
    expect(await ttl()).toEqual([`${TTL} 20`])
    metrics.observer({ type: 'detached', source: twin })
    expect(await ttl()).toEqual([`${TTL} 60`])
  })

  it('stays when a run fails or the credential is retired', async () => {
    const { ttl, renew, metrics } = await started()
    renew(plugin, 1_060_000)
    metrics.observer({ type: 'retired', source: plugin })
    const error = new PluginExitedError('plugin', 1)
    const failed = { type: 'run-failed', reason: 'expired', tookMs: 1, nextTryAt: 0 } as const
    metrics.observer({ ...failed, error, source: plugin })
    expect(await ttl()).toEqual([`${TTL} 60`])
  })

  it('covers plugins only, not a certificate from a file', async () => {
    const { ttl, renew, metrics } = await started()
    const source: SourceLabel = { kind: 'certificate-files', name: 'tls.crt, tls.key' }
    const certificate = { notBefore: 0, notAfter: 1_060_000 }
    metrics.observer({ type: 'attached', source, certificate })
    renew(source, 1_060_000)
    expect(await ttl()).toEqual([`${TTL} +Inf`])
  })
})

describe('the age at rotation', () => {
  it.each([
    { age: 600, bucket: '600' },
    { age: 601, bucket: '1800' },
    { age: 86_400, bucket: '86400' },
    { age: 124_416_000, bucket: '124416000' },
    { age: 124_416_001, bucket: '+Inf' },
  ])('of $age s is counted up to le="$bucket"', async ({ age, bucket }) => {
    const clock = new FakeClock(2e12)
    const metrics = await makeMetrics(clock)
    const notBefore = clock.now() - age * 1000
    metrics.observer(renewed(plugin, { replaced: { notBefore, notAfter: 2e12 } }))
    const text = await metrics.register.metrics()
    expect(/_age_bucket\{le="(.*)"\} 1/.exec(text)?.[1]).toBe(bucket)
    expect(linesOf(text, AGE)).toEqual([`${AGE}_sum ${age}`, `${AGE}_count 1`])
  })
})

it('metrics named after plugins count no other source', async () => {
  await using scene = await openScene()
  const path = join(scene.sandbox.folder, 'token')
  writeFileSync(path, scene.sandbox.issueToken({ user: 'jane' }).token)
  const metrics = await makeMetrics()
  const untouched = await metrics.register.metrics()
  await using cluster = await connect({
    kubeconfig: scene.sandbox.writeKubeconfig({ user: { tokenFile: path } }),
    observer: metrics.observer,
  })
  expect(await request(cluster)).toBe(200)
  const added = (await metrics.register.metrics()).split('\n')
  expect(added.filter((line) => !untouched.split('\n').includes(line))).toEqual([
    'kubecred_refresh_total{reason="first",source="token-file",outcome="new"} 1',
  ])
})

it('labels are escaped', async () => {
  const metrics = await makeMetrics()
  const kind = 'a"b\\c\nd' as 'exec'
  metrics.observer(renewed({ kind, name: '' }))
  expect(await metrics.register.metrics()).toContain('source="a\\"b\\\\c\\nd"')
})

it('combined observers all receive an event even if one of them throws', () => {
  const heard: string[] = []
  const throws = (): void => {
    throw new Error('bad observer')
  }
  const observer = combineObservers(throws, undefined, (event) => heard.push(event.type))
  observer({ type: 'retired', source: plugin })
  expect(heard).toEqual(['retired'])
})
