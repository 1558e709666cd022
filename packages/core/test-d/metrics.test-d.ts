import type { Observer } from 'kubecred'
import { combineObservers, createMetrics, type Metrics, type PromRegister } from 'kubecred/metrics'
import type { OpenMetricsContentType, Registry } from 'prom-client'
import { expectTypeOf, it } from 'vitest'
import type { PLUGIN_CODES } from '../src/errors/plugin-errors.ts'
import type { CALLS } from '../src/metrics/call-status.ts'

it('kubecred/metrics has an observer for connect()', () => {
  expectTypeOf(createMetrics()).toEqualTypeOf<Promise<Metrics>>()
  expectTypeOf<Metrics['observer']>().toEqualTypeOf<Observer>()
  expectTypeOf(combineObservers).returns.toEqualTypeOf<Observer>()
  expectTypeOf(combineObservers).toBeCallableWith({} as Metrics['observer'], undefined)
})

it('a registry of prom-client is accepted and keeps its type', () => {
  expectTypeOf<Registry>().toExtend<PromRegister>()
  expectTypeOf<Registry<OpenMetricsContentType>>().toExtend<PromRegister>()
  expectTypeOf(createMetrics({ register: {} as Registry })).toEqualTypeOf<
    Promise<Metrics<Registry>>
  >()
})

it('every error code of plugins has a row, and no other code has one', () => {
  expectTypeOf<keyof typeof CALLS>().toEqualTypeOf<keyof typeof PLUGIN_CODES>()
})
