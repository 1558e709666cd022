import { setImmediate as nextTurn } from 'node:timers/promises'
import { vi } from 'vitest'
import { makeTarget } from '../../src/dial/target.ts'
import type { ConnectionLimits, Exchange, Sendable } from '../../src/exchange/exchange.ts'
import { CallbackController } from '../../src/exchange/handler.ts'
import type { Lease } from '../../src/keeper/lease.ts'
import type { LeaseProvider } from '../../src/keeper/lease-provider.ts'
import { ResourceCache } from '../../src/keeper/resource-cache.ts'
import type { Call } from '../../src/request/call.ts'
import type { OutgoingRequest } from '../../src/request/outgoing-request.ts'
import { Secret } from '../../src/secret/secret.ts'
import { fakeAccess, lineTo, sendOver } from './line-to.ts'

export const target = makeTarget('https://server.example', {
  ca: undefined,
  serverName: undefined,
  insecure: false,
})

/** One try that reached the exchange. The test plays the server. */
export class Sent {
  readonly call: Sendable
  readonly headers: Sendable['requestHeaders']
  readonly body: Sendable['requestBody']
  readonly onAbort = vi.fn()
  readonly onPause = vi.fn()
  readonly controller = new CallbackController({
    onAbort: this.onAbort,
    onPause: this.onPause,
    onResume() {},
  })

  constructor(call: Sendable) {
    this.call = call
    this.headers = call.requestHeaders
    this.body = call.requestBody
    call.onRequestStart(this.controller, null)
  }

  begin(status: number, headers = {}): void {
    this.call.onResponseStart(this.controller, status, headers, 'said')
  }

  data(text: string): void {
    this.call.onResponseData(this.controller, Buffer.from(text))
  }

  end(): void {
    this.call.onResponseEnd(this.controller, {})
  }

  fail(error: Error): void {
    this.call.onResponseError(this.controller, error)
  }

  answer(status: number, text = 'body'): void {
    this.begin(status)
    this.data(text)
    this.end()
  }
}

export const leaseOf = (ticket: number): Lease => ({
  ticket,
  credential: { token: new Secret(`t${ticket}`) },
  authorization: `Bearer t${ticket}`,
  resources: new ResourceCache(),
})

interface Stage {
  readonly access?: Partial<LeaseProvider>
  readonly limits?: ConnectionLimits
}

/** Opens a line whose server and credentials the test controls. */
export function open({ access = {}, limits = { requests: 64, streams: 64 } }: Stage = {}) {
  const sent: Sent[] = []
  const exchange: Exchange = {
    open: () => ({
      isClosed: false,
      send: (call) => void sent.push(new Sent(call)),
      close() {},
      destroy() {},
    }),
  }
  const keeper = fakeAccess(leaseOf(1), access)
  const line = lineTo(target, exchange, { access: keeper, limits })
  const send = (path = '/version', more: Partial<OutgoingRequest> = {}): Promise<Call> => {
    const promise = sendOver(line, path, more, exchange)
    promise.catch(() => {})
    return promise
  }
  return { line, exchange, sent, send }
}

export const text = (call: Call): Promise<string> => call.readAll(String)

/** A credential that arrives when the test provides it. */
export function later() {
  const waiting: ((lease: Lease | undefined) => void)[] = []
  return {
    ask: vi.fn(() => new Promise<never>((resolve) => waiting.push(resolve as never))),
    give: async (lease: Lease | undefined) => {
      for (const resolve of waiting.splice(0)) resolve(lease)
      await nextTurn()
    },
  }
}
