import { beforeEach, describe, expect, it } from 'vitest'
import { notify, ObserverSet } from '../../src/keeper/observers.ts'
import type { CredentialEvent, Observer } from '../../src/ports/observer.ts'
import { settled } from './hand-source.ts'

const label = { kind: 'exec', name: 'hand' } as const
const warning = { type: 'warning', message: 'look' } as const

describe('the observers of a keeper', () => {
  let set: ObserverSet
  let events: CredentialEvent[]
  const observer = (event: CredentialEvent): void => void events.push(event)
  beforeEach(() => {
    set = new ObserverSet(label)
    events = []
  })

  it('receive the validity of the certificate in use when they are added, and events with the source', () => {
    const certificate = { notBefore: 1, notAfter: 2 }
    set.add(observer, certificate)
    set.report(warning)
    expect(events).toEqual([
      { type: 'attached', certificate, source: label },
      { ...warning, source: label },
    ])
  })

  it('receive the same object', () => {
    const seen: unknown[] = []
    set.add((event) => void seen.push(event), undefined)
    set.add((event) => void seen.push(event), undefined)
    set.report(warning)
    expect(seen.at(-1)).toBe(seen.at(-2))
  })

  it('receive nothing after they are removed but that they are', () => {
    const remove = set.add(observer, undefined)
    remove()
    remove()
    set.report(warning)
    expect(events.map(({ type }) => type)).toEqual(['attached', 'detached'])
  })

  it('that were added several times receive each event once, until the last is removed', () => {
    const removes = [1, 2, 3].map(() => set.add(observer, undefined))
    set.report(warning)
    removes[0]?.()
    removes[0]?.()
    removes[1]?.()
    set.report(warning)
    removes[2]?.()
    set.report(warning)
    expect(events.map(({ type }) => type)).toEqual(['attached', 'warning', 'warning', 'detached'])
  })

  it('are all detached when the keeper closes, and can be removed after it', () => {
    const remove = set.add(observer, undefined)
    set.close()
    remove()
    set.report(warning)
    expect(events.at(-1)).toEqual({ type: 'detached', source: label })
    expect(events).toHaveLength(2)
  })

  it('may throw or reject', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', note)
    const rejecting: Observer = (): unknown => Promise.reject(new Error('later'))
    notify(rejecting, { ...warning, source: label })
    notify(
      () => {
        throw new Error('now')
      },
      { ...warning, source: label },
    )
    await settled()
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})
