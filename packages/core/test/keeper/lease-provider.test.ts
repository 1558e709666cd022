import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ForeignOriginError } from '../../src/errors/index.ts'
import { type Lease, makeLease } from '../../src/keeper/lease.ts'
import { type LeaseProvider, pinToServer } from '../../src/keeper/lease-provider.ts'
import { ResourceCache } from '../../src/keeper/resource-cache.ts'
import { plainCrypto, settled } from './hand-source.ts'

const refusal = { status: 401, headers: {} }
const lease = makeLease(1, { credential: {} }, plainCrypto, undefined)
const other = makeLease(2, { credential: {} }, plainCrypto, undefined)
const status = { source: { kind: 'vault', name: 'v' }, state: 'ready', runs: 1 } as const

/** An access that records its calls. */
function recordingAccess() {
  return {
    label: status.source,
    shared: new ResourceCache(),
    maxRetries: 3,
    lease: vi.fn<LeaseProvider['lease']>(() => lease),
    replace: vi.fn<LeaseProvider['replace']>(async () => other),
    reject: vi.fn(),
    accept: vi.fn(),
    renew: vi.fn(async () => {}),
    forget: vi.fn(),
    drain: vi.fn(),
    report: vi.fn(),
    secrets: [],
    status: () => status,
  }
}

describe('an access that is pinned to a server', () => {
  let access: ReturnType<typeof recordingAccess>
  let pinned: LeaseProvider
  let held: Lease[]
  let moved: Lease[]
  beforeEach(() => {
    access = recordingAccess()
    held = []
    moved = []
    pinned = pinToServer(access, {
      now: { origin: 'https://one.test' },
      hold: (each) => held.push(each),
      move: (each) => moved.push(each),
    })
  })

  it('asks for leases of that server, unless the request names another', async () => {
    const { signal } = new AbortController()
    expect(pinned.lease(signal)).toBe(lease)
    expect(access.lease).toHaveBeenLastCalledWith(signal, { origin: 'https://one.test' })
    const options = { origin: 'https://two.test', deadline: {} }
    pinned.lease(signal, options)
    expect(access.lease).toHaveBeenLastCalledWith(signal, options)
    expect(await pinned.replace(lease, refusal, signal)).toBe(other)
    expect(access.replace).toHaveBeenLastCalledWith(lease, refusal, signal, {
      origin: 'https://one.test',
    })
    expect(held).toEqual([lease, lease, other])
  })

  it('holds a lease that it had to wait for, and nothing if there is no replacement', async () => {
    access.lease.mockReturnValue(Promise.resolve(other))
    expect(await pinned.lease()).toBe(other)
    access.replace.mockResolvedValue(undefined)
    expect(await pinned.replace(lease, refusal)).toBeUndefined()
    expect(held).toEqual([other])
  })

  it('moves to another server once no login is for its own, and fails that one call', async () => {
    const error = new ForeignOriginError('no login is for https://one.test')
    access.lease.mockReturnValueOnce(Promise.reject(error)).mockReturnValueOnce(other)
    await expect(pinned.lease()).rejects.toBe(error)
    expect(moved).toEqual([other])
    // It only looks which lease there is, so it must not wait and must not be restricted.
    const [signal, options] = access.lease.mock.lastCall ?? []
    expect([signal?.aborted, options]).toEqual([true, undefined])
    access.replace.mockRejectedValueOnce(error)
    await expect(pinned.replace(lease, refusal)).rejects.toBe(error)
    expect(moved).toEqual([other, lease])
  })

  it('stays if there is no other login now, and after any other error', async () => {
    access.lease
      .mockReturnValueOnce(Promise.reject(new ForeignOriginError('no login')))
      .mockReturnValueOnce(Promise.reject(new Error('aborted')))
    await expect(pinned.lease()).rejects.toThrow(ForeignOriginError)
    access.lease.mockReturnValueOnce(Promise.reject(new Error('failed')))
    await expect(pinned.lease()).rejects.toThrow('failed')
    await settled()
    expect([moved, held]).toEqual([[], []])
  })

  it('passes everything else on', async () => {
    const { signal } = new AbortController()
    pinned.reject(lease, refusal)
    pinned.accept(lease, 'a date')
    await pinned.renew(signal)
    pinned.forget()
    pinned.drain('scope')
    pinned.report({ type: 'retired' })
    expect(access.reject).toHaveBeenCalledWith(lease, refusal)
    expect(access.accept).toHaveBeenCalledWith(lease, 'a date')
    expect(access.renew).toHaveBeenCalledWith(signal)
    expect(access.forget).toHaveBeenCalled()
    expect(access.drain).toHaveBeenCalledWith('scope')
    expect(access.report).toHaveBeenCalledWith({ type: 'retired' })
    expect(pinned.secrets).toBe(access.secrets)
    expect(pinned.status()).toBe(status)
    expect([pinned.label, pinned.shared, pinned.maxRetries]).toEqual([
      access.label,
      access.shared,
      3,
    ])
  })
})
