export {
  combineObservers,
  createMetrics,
  type Metrics,
  type MetricsOptions,
  type PromRegister,
} from './create-metrics.ts'
