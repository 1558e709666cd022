import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Cluster } from 'kubecred'
import {
  ClusterProxy,
  DEFAULT_RULES,
  type ProxyOptions,
  type ProxyRules,
  type RequestSummary,
  serverOptions,
} from 'kubecred/proxy'
import { expectTypeOf, it } from 'vitest'

it('a proxy is created from a cluster', () => {
  expectTypeOf<Cluster>().toExtend<ProxyOptions['cluster']>()
  expectTypeOf(ClusterProxy).toBeConstructibleWith({} as ProxyOptions)
  expectTypeOf(DEFAULT_RULES).toEqualTypeOf<ProxyRules>()
})

it('http and https servers accept the options and can be served', () => {
  expectTypeOf(createServer).toBeCallableWith(serverOptions())
  expectTypeOf(createSecureServer).toBeCallableWith({ ...serverOptions(), cert: '', key: '' })
  expectTypeOf<ClusterProxy['serve']>().toBeCallableWith(createSecureServer())
})

it('notes are plain data', () => {
  expectTypeOf<NonNullable<ProxyOptions['onRequest']>>().parameters.toEqualTypeOf<
    [RequestSummary]
  >()
})
