import type { Observer } from 'kubecred'
import {
  combine,
  createMetrics,
  type MetricFamily,
  type Metrics,
  type PromRegistry,
} from 'kubecred/metrics'
import type { OpenMetricsContentType, Registry } from 'prom-client'
import { expectTypeOf, it } from 'vitest'
import type { PLUGIN_CODES } from '../src/errors/plugin-errors.ts'
import type { CALLS } from '../src/metrics/call-status.ts'

it('kubecred/metrics gives an observer for connect()', () => {
  expectTypeOf(createMetrics).returns.toEqualTypeOf<Metrics>()
  expectTypeOf<Metrics['observer']>().toEqualTypeOf<Observer>()
  expectTypeOf(combine).returns.toEqualTypeOf<Observer>()
  expectTypeOf(combine).toBeCallableWith(createMetrics().observer, undefined)
})

it('values are plain data', () => {
  expectTypeOf<ReturnType<Metrics['values']>>().toEqualTypeOf<readonly MetricFamily[]>()
  expectTypeOf<MetricFamily['type']>().toEqualTypeOf<'counter' | 'gauge' | 'histogram'>()
})

it('a registry of prom-client fits, whatever it writes', () => {
  expectTypeOf<Registry>().toExtend<PromRegistry>()
  expectTypeOf<Registry<OpenMetricsContentType>>().toExtend<PromRegistry>()
})

it('every code a plugin can fail with has a row, and nothing else has', () => {
  expectTypeOf<keyof typeof CALLS>().toEqualTypeOf<keyof typeof PLUGIN_CODES>()
})
