import fc from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import { HandshakeError } from '../../src/tls/alert.ts'
import { MessageJoiner } from '../../src/tls/handshake-messages.ts'
import { RecordSplitter } from '../../src/tls/records.ts'
import { mutate, mutation } from './mutations.ts'
import { CLIENT_AUTHENTICATION } from './rfc8448.ts'
import { openServerFlight, type Played, play, playable } from './tracked-handshake.ts'

const RUNS = inject('isLong') ? 95_000 : 5_000
const GOOD = playable(CLIENT_AUTHENTICATION)
const MESSAGES = openServerFlight(CLIENT_AUTHENTICATION)
const DIGEST = play(GOOD).transcript.digest().toString('hex')

describe('a handshake stream', () => {
  const bytes = Buffer.concat(GOOD.server)
  const whole = new RecordSplitter().push(bytes).map(({ bytes }) => bytes.toString('hex'))

  it('has the same records however it is split into chunks', () => {
    fc.assert(
      fc.property(cuts(bytes.length), (at) => {
        const splitter = new RecordSplitter()
        const records = cut(bytes, at).flatMap((piece) => splitter.push(piece))
        expect(records.map((record) => record.bytes.toString('hex'))).toEqual(whole)
        expect(splitter.rest).toHaveLength(0)
      }),
      { numRuns: 500 },
    )
  })

  it('has the same messages however they are split into fragments', () => {
    const all = Buffer.concat(MESSAGES)
    fc.assert(
      fc.property(cuts(all.length), (at) => {
        const joiner = new MessageJoiner()
        const messages = cut(all, at).flatMap((piece) => joiner.push(piece))
        expect(messages.map((message) => message.bytes)).toEqual(MESSAGES)
        expect(joiner.isAtMessageEnd).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  it('has the same transcript however both sides are split into chunks', () => {
    const [hello = Buffer.alloc(0), flight = Buffer.alloc(0)] = GOOD.client
    fc.assert(
      fc.property(cuts(bytes.length), cuts(flight.length), (inServer, inFlight) => {
        const server = cut(bytes, inServer)
        const client = [hello, ...cut(flight, inFlight)]
        expect(conclude({ ...GOOD, server, client })).toBe(DIGEST)
      }),
      { numRuns: 500 },
    )
  })
})

// Whatever is changed, the handshake is rejected with a HandshakeError, or its transcript is that of both sides.
describe('a modified handshake', () => {
  it('is rejected, or has the same transcript, if the attacker has no keys', {
    timeout: 120_000,
  }, () => {
    fc.assert(
      fc.property(fc.constantFrom('server', 'client', 'keylog'), mutation(), (part, change) => {
        const changed = mutate(GOOD[part], change)
        expect(['rejected', DIGEST]).toContain(conclude({ ...GOOD, [part]: changed }))
      }),
      { numRuns: Math.ceil(RUNS / 2) },
    )
  })

  // The change is encrypted with the right keys, and OpenSSL's Finished is computed for it.
  it('is rejected, or has the transcript of the change, if the attacker has the keys', {
    timeout: 120_000,
  }, () => {
    fc.assert(
      fc.property(mutation(), (change) => {
        const messages = mutate(MESSAGES, change)
        const outcome = conclude(playable(CLIENT_AUTHENTICATION, messages))
        if (outcome === DIGEST) expect(Buffer.concat(messages)).toEqual(Buffer.concat(MESSAGES))
        else if (outcome !== 'rejected') expect(isFlight(messages)).toBe(true)
      }),
      { numRuns: Math.floor(RUNS / 2) },
    )
  })
})

function conclude(played: Played): string {
  try {
    return play(played).transcript.digest().toString('hex')
  } catch (error) {
    if (error instanceof HandshakeError) return 'rejected'
    throw error
  }
}

/** Whether these are still the messages of a server that requests a certificate, in order. */
function isFlight(messages: readonly Buffer[]): boolean {
  const joined = new MessageJoiner().push(Buffer.concat(messages))
  return joined.map(({ type }) => type).join() === '8,13,11,15,20'
}

function cuts(length: number): fc.Arbitrary<number[]> {
  return fc
    .uniqueArray(fc.integer({ min: 1, max: length - 1 }), { maxLength: 40 })
    .map((places) => places.sort((a, b) => a - b))
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  return [0, ...places].map((start, index) => bytes.subarray(start, places[index]))
}
