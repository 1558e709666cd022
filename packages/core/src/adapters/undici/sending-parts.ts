import type { ExecResponse } from '../../protocol/encode-exec-info.ts'
import type { HeaderValues } from '../../transport/default-headers.ts'
import type { Line } from '../../transport/line.ts'
import type { Aim } from '../../transport/servers.ts'
import type { Lease } from '../../vault/lease.ts'
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
  /** What it says about a credential that there was no answer; undefined when nothing. */
  refusal(error: unknown, lease: Lease): ExecResponse | undefined
  /** What the caller is told. */
  explain(error: Error, origin: string): Error
  /** What an abort without a reason fails with. */
  aborted(): Error
}

export interface SendingParts {
  readonly line: Line
  readonly way: Way
  readonly aim: Aim
  readonly options: DispatchOptions
  readonly headers: HeaderValues
  readonly body: SentBody
  readonly caller: Handler
  readonly ongoing: Ongoing
}
