import { expect, it, vi } from 'vitest'
import { Attempt, type AttemptOwner } from '../../../src/adapters/undici/attempt.ts'
import { FewConnections } from '../../../src/adapters/undici/few-connections.ts'
import type { Pool } from '../../../src/adapters/undici/undici-module.ts'
import { makeTarget } from '../../../src/transport/target.ts'

const TLS = { ca: undefined, serverName: undefined, insecure: false }
const WAY = { lease: undefined, target: makeTarget('https://server.example', TLS) }

const KIND = { refusals: 0, isResent: false }

function stage() {
  const few = new FewConnections(() => ({}) as Pool)
  const begun: number[] = []
  const givenUp: [number, string][] = []
  const attempts = Array.from({ length: 7 }, (_, index) => {
    const failed: AttemptOwner['failed'] = (_, { message }) => void givenUp.push([index, message])
    const attempt = new Attempt({ failed } as AttemptOwner, WAY, KIND)
    few.enter(attempt, () => void begun.push(index))
    return attempt
  })
  return { few, begun, givenUp, attempts }
}

it('lets four through, and the next when one of them is done', async () => {
  const { begun, attempts } = stage()
  expect(begun).toEqual([0, 1, 2, 3])
  attempts[2]?.done()
  attempts[2]?.done()
  await vi.waitFor(() => expect(begun).toEqual([0, 1, 2, 3, 4]))
})

it('forgets who leaves, and lets the next one through in their place', async () => {
  const { begun, givenUp, attempts } = stage()
  attempts[4]?.abort(new Error('no time'))
  attempts[0]?.done()
  await vi.waitFor(() => expect(begun).toEqual([0, 1, 2, 3, 5]))
  // They know that they left.
  expect(givenUp).toEqual([])
})

it('tells all who wait why they wait in vain, and opens nothing for them', async () => {
  const { few, begun, givenUp, attempts } = stage()
  few.destroy(new Error('the end'))
  await few.whenIdle()
  expect(givenUp).toEqual([4, 5, 6].map((index) => [index, 'the end']))
  for (const attempt of attempts) attempt.done()
  expect(begun).toEqual([0, 1, 2, 3])
})

it('gives the place of a request back that could not begin', () => {
  const few = new FewConnections(() => {
    throw new Error('no pool')
  })
  const enter = (): void => few.enter(new Attempt({} as AttemptOwner, WAY, KIND), () => {})
  for (let count = 0; count < 6; count += 1) expect(enter).toThrow('no pool')
})
