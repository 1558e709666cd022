import { describe, expect, it } from 'vitest'
import { admit } from '../../src/transport/admission.ts'
import { Gate } from '../../src/transport/gate.ts'
import type { Outgoing } from '../../src/transport/outgoing.ts'
import { findAnywhere } from '../../src/transport/target.ts'
import type { Access } from '../../src/vault/access.ts'
import type { Lease } from '../../src/vault/lease.ts'

const { place } = findAnywhere('/version')
const outgoing = (signal?: AbortSignal): Outgoing => ({
  method: 'GET',
  headers: {},
  signal,
  body: () => undefined,
  canReplay: () => true,
})

/** A gate with one place, and credentials that come when the test says so. */
function open() {
  const gate = new Gate({ requests: 1, streams: 1 })
  const waiting: ((lease: Lease) => void)[] = []
  let ready: Lease | undefined
  let asked = 0
  const keeper = {
    lease() {
      asked += 1
      return ready ?? new Promise<Lease>((resolve) => waiting.push(resolve))
    },
  } as unknown as Access
  const lease = (ticket: number): Lease => ({ ticket }) as Lease
  return {
    keeper,
    gate,
    waiting,
    lease,
    asked: () => asked,
    hold: (ticket: number | undefined) => {
      ready = ticket === undefined ? undefined : lease(ticket)
    },
    admit: (signal?: AbortSignal, given?: Lease) =>
      admit({ gate, keeper }, place, outgoing(signal), undefined, given),
  }
}

describe('a request on its way in', () => {
  it('takes its credential once, also when it had to wait for it', async () => {
    const { admit, waiting, lease, asked } = open()
    const admitted = admit()
    waiting[0]?.(lease(1))
    expect((await admitted).lease.ticket).toBe(1)
    expect(asked()).toBe(1)
  })

  it('keeps no place while it waits for a credential', async () => {
    const { admit, waiting, lease, gate } = open()
    const first = admit()
    // The only place is free for somebody who needs no credential, or has one.
    const other = gate.enter()
    expect(other).not.toBeInstanceOf(Promise)
    ;(await other).done()
    waiting[0]?.(lease(1))
    expect((await first).lease.ticket).toBe(1)
  })

  it('looks again at what may have changed while it waited for its place', async () => {
    const { admit, hold, gate, lease } = open()
    const other = await gate.enter()
    hold(1)
    const late = admit(undefined, lease(1))
    hold(2)
    other.done()
    expect((await late).lease.ticket).toBe(2)
  })

  it('uses what it was given where it has a place at once', async () => {
    const { admit, lease, asked } = open()
    expect((await admit(undefined, lease(7))).lease.ticket).toBe(7)
    expect(asked()).toBe(0)
  })

  it('gives its place back when there is no credential for it', async () => {
    const { gate, keeper, admit } = open()
    keeper.lease = () => {
      throw new Error('none')
    }
    expect(() => admit()).toThrow('none')
    keeper.lease = () => Promise.reject(new Error('none in time'))
    await expect(admit()).rejects.toThrow('none in time')
    const own = new AbortController()
    const other = await gate.enter()
    const queued = admit(own.signal)
    own.abort(new Error('never mind'))
    await expect(queued).rejects.toThrow('never mind')
    other.done()
    expect(gate.enter()).not.toBeInstanceOf(Promise)
  })
})
