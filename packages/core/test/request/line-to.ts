import type { Target } from '../../src/dial/target.ts'
import type { ConnectionLimits, Exchange } from '../../src/exchange/exchange.ts'
import type { Lease } from '../../src/keeper/lease.ts'
import type { LeaseProvider } from '../../src/keeper/lease-provider.ts'
import { ResourceCache } from '../../src/keeper/resource-cache.ts'
import type { Call, Caller } from '../../src/request/call.ts'
import { Line } from '../../src/request/line.ts'
import type { OutgoingRequest } from '../../src/request/outgoing-request.ts'
import { splitPath } from '../../src/request/request-target.ts'

/** A lease without a credential. */
export const plainLease = (resources = new ResourceCache(), ticket = 1): Lease => ({
  ticket,
  credential: {},
  authorization: undefined,
  resources,
})

/** Always returns the same lease, and ignores all reports. */
export function fakeAccess(
  lease: Lease = plainLease(),
  more: Partial<LeaseProvider> = {},
): LeaseProvider {
  const access = {
    shared: new ResourceCache(),
    maxRetries: 1,
    lease: () => lease,
    replace: async () => undefined,
    reject() {},
    accept() {},
    report() {},
    leave() {},
    secrets: [],
  }
  return { ...access, ...more } as unknown as LeaseProvider
}

export interface LineOptions {
  readonly access?: LeaseProvider
  readonly limits?: ConnectionLimits
}

/** Makes a line with the given exchange. */
export function lineTo(target: Target, exchange: Exchange, options: LineOptions = {}): Line {
  const { access = fakeAccess(), limits = { requests: 1000, streams: 1000 } } = options
  return new Line({
    target,
    keeper: access,
    defaults: {},
    refreshOn: [401],
    limits,
    loadExchange: async () => exchange,
  })
}

/** Sends a request. It fails with the unchanged error of the exchange. */
export function sendOver(
  line: Line,
  path: string,
  more: Partial<OutgoingRequest>,
  exchange: Exchange,
): Promise<Call> {
  const outgoing: OutgoingRequest = {
    method: 'GET',
    headers: {},
    signal: undefined,
    body: () => undefined,
    canReplay: () => true,
    ...more,
  }
  return new Promise((answered, failed) => {
    const caller: Caller = { answered, failed, explain: (error) => error }
    line.call(splitPath(path), outgoing, caller, exchange)
  })
}
