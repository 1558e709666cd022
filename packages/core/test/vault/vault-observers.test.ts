import { describe, expect, it } from 'vitest'
import type { Observer } from '../../src/ports/observer.ts'
import { VaultObservers } from '../../src/vault/vault-observers.ts'

const observer = (): Observer => () => {}

/** A keeper that notes who watches it. */
function keeper() {
  const watching: Observer[] = []
  return {
    watching,
    watch: (added: Observer) => {
      watching.push(added)
      return () => void watching.splice(watching.indexOf(added), 1)
    },
  }
}

describe('the observers of a vault', () => {
  it('watch every keeper, whichever was added first', () => {
    const all = new VaultObservers()
    const [first, second] = [observer(), observer()]
    const [early, late] = [keeper(), keeper()]
    all.add(early)
    all.watch(first)
    all.watch(second)
    all.add(late)
    expect(early.watching).toEqual([first, second])
    expect(late.watching).toEqual([first, second])
  })

  it('watch nothing any more once they are removed', () => {
    const all = new VaultObservers()
    const [first, second] = [observer(), observer()]
    const [early, late] = [keeper(), keeper()]
    all.add(early)
    const remove = all.watch(first)
    all.watch(second)
    remove()
    all.add(late)
    expect([early.watching, late.watching]).toEqual([[second], [second]])
    // A second time changes nothing.
    remove()
    expect(early.watching).toEqual([second])
  })

  it('do not watch a keeper that is removed, and stay with the others', () => {
    const all = new VaultObservers()
    const first = observer()
    const [one, two] = [keeper(), keeper()]
    const remove = all.add(one)
    all.add(two)
    const leave = all.watch(first)
    remove()
    remove()
    expect([one.watching, two.watching]).toEqual([[], [first]])
    all.watch(observer())
    expect(one.watching).toEqual([])
    leave()
    expect([one.watching, two.watching.length]).toEqual([[], 1])
  })
})
