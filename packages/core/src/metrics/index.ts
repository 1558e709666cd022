export { combine } from './combine.ts'
export { createMetrics, type Metrics, type MetricsOptions } from './create-metrics.ts'
export type { MetricFamily, Sample } from './family.ts'
export type { PromRegistry } from './register.ts'
