import type { HeaderValues } from '../../transport/default-headers.ts'
import type { Line } from '../../transport/line.ts'
import type { Place } from '../../transport/target.ts'
import type { Attempt } from './attempt.ts'
import type { BothWays } from './both-ways.ts'
import type { Handler } from './handlers.ts'
import type { Ongoing } from './ongoing.ts'
import type { SentBody } from './request-parts.ts'
import type { DispatchOptions } from './undici-module.ts'

/** Connections of some kind that a try of a request can go over. */
export interface Way {
  /** @throws When this credential cannot go this way. */
  begin(attempt: Attempt, options: DispatchOptions, handler: BothWays): void
  /** Whether a request that had no answer may be sent once more, because its connection is to blame. */
  mends(error: Error, request: DispatchOptions): boolean
  /** What the caller is told. */
  explain(error: Error): Error
  /** What an abort without a reason fails with. */
  aborted(): Error
}

export interface SendingParts {
  readonly line: Line
  readonly way: Way
  readonly place: Place
  readonly options: DispatchOptions
  readonly headers: HeaderValues
  readonly body: SentBody
  readonly caller: Handler
  readonly ongoing: Ongoing
}
