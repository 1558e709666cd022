/** One number, with the labels that tell it from its sisters. */
export interface Sample {
  /** The family's name, or with `_bucket`, `_sum` and `_count` behind it. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** One metric as it stands now, as plain data. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly Sample[]
}

/** What a metric is called and what it means. */
export interface Description {
  readonly name: string
  readonly help: string
}

/** A metric that can be read. */
export interface Instrument extends Description {
  readonly type: MetricFamily['type']
  /** How values of several worker processes become one. */
  readonly aggregator: 'sum' | 'min'
  samples(): readonly Sample[]
  /** Starts again from nothing, where that means anything. */
  reset(): void
}
