import { describe, expect, it } from 'vitest'
import type { CredentialEvent } from '../../src/ports/observer.ts'
import { openScene, settle } from './vault-scene.ts'

const server = 'https://one.test'
const refusal = { status: 401, headers: {} }
const typesOf = (events: readonly CredentialEvent[]) => events.map(({ type }) => type)

describe('the events of a vault', () => {
  it('have no freeze for a request whose signal is already aborted', async () => {
    const { vault, events } = openScene({ never: () => new Promise(() => {}) })
    await Promise.resolve(vault.lease(AbortSignal.abort())).catch(() => {})
    expect(typesOf(events)).not.toContain('frozen')
    expect(vault.status().waiting).toBe(0)
    await vault.close()
  })

  it('reach all observers although one throws or rejects', async () => {
    const { vault, events } = openScene({ corp: () => ({ server, token: 't' }) })
    vault.watch(() => {
      throw new Error('bad observer')
    })
    vault.watch((async () => {
      throw new Error('bad observer')
    }) as () => void)
    const first = await vault.lease()
    await Promise.race([vault.replace(first, refusal).catch(() => {}), settle()])
    expect(typesOf(events)).toEqual(expect.arrayContaining(['logged-in', 'refused', 'depleted']))
    await vault.close()
  })

  it('reach an observer that was added twice only once, until it is removed twice', async () => {
    const { vault } = openScene({ corp: () => ({ server, token: 't' }) })
    const heard: string[] = []
    const observer = ({ type }: CredentialEvent): void => void heard.push(type)
    const leaves = [vault.watch(observer), vault.watch(observer)]
    leaves[0]?.()
    leaves[0]?.()
    await vault.lease()
    expect(heard.filter((type) => type === 'logged-in')).toHaveLength(1)
    leaves[1]?.()
    const before = heard.length
    expect(heard.at(-1)).toBe('detached')
    vault.report({ type: 'depleted' })
    expect(heard).toHaveLength(before)
    await vault.close()
  })
})
