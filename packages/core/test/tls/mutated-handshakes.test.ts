import fc from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import { attempt, isEssential } from './attempt-handshake.ts'
import { meet } from './in-memory-server.ts'
import { mutation } from './mutations.ts'
import { softwareKey } from './software-key.ts'
import { jane } from './tls-server.ts'

const RUNS = inject('isLong') ? 5_000 : 300

it('an unmodified handshake succeeds', async () => {
  expect(await attempt({ side: 'toServer', index: 99, change: (bytes) => bytes })).toMatchObject({
    isSigned: true,
    isAuthenticated: true,
    echoed: 'hello',
    changed: undefined,
  })
})

it.each([1, 2, 7, 100])('a handshake succeeds in chunks of %i bytes', async (length) => {
  const cut = (bytes: Buffer): Buffer[] =>
    Array.from({ length: Math.ceil(bytes.length / length) }, (_, at) =>
      bytes.subarray(at * length, (at + 1) * length),
    )
  const signingKey = softwareKey(jane.key)
  const meeting = meet({ signingKey, middle: { toClient: cut, toServer: cut } })
  const socket = await meeting.connecting
  socket.write('hello')
  expect(await new Promise((resolve) => socket.once('data', resolve))).toEqual(Buffer.from('hello'))
  expect(meeting.accepted[0]?.authorized).toBe(true)
  meeting.end()
})

describe('a handshake that is modified in transit', () => {
  it('ends, and never authenticates a modified side', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('toClient' as const, 'toServer' as const),
        fc.nat(1),
        mutation(),
        async (side, index, change) => {
          const { changed, isSigned, isAuthenticated, echoed } = await attempt({
            side,
            index,
            change,
          })
          const matters = isEssential(changed)
          const what = `${changed?.from.toString('hex')} became ${changed?.to.toString('hex')}`
          // A modified flight of the server must not be signed.
          if (matters && side === 'toClient' && index === 0) expect(isSigned, what).toBe(false)
          // A modified client flight or ClientHello must not authenticate: both are in the transcript.
          if (matters && side === 'toServer') expect(isAuthenticated, what).toBe(false)
          if (echoed !== '')
            expect([isSigned, isAuthenticated, echoed]).toEqual([true, true, 'hello'])
        },
      ),
      { numRuns: RUNS },
    )
  })
})
