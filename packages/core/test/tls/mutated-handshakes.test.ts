import fc from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import { RecordSplitter, type TlsRecord } from '../../src/tls/records.ts'
import { meet } from './in-memory-server.ts'
import { type Mutation, mutation } from './mutations.ts'
import { softwareKey } from './software-key.ts'
import { jane } from './tls-server.ts'

const RUNS = inject('isLong') ? 5_000 : 300
const HANDSHAKE = 22
const ENCRYPTED = 23

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
          const matters =
            changed !== undefined && !isPrefix(essence(changed.from), essence(changed.to))
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

interface Attempt {
  readonly side: 'toClient' | 'toServer'
  readonly index: number
  readonly change: Mutation
}

/** Runs one handshake with one change, and an echo if it succeeds. It always ends. */
async function attempt({ side, index, change }: Attempt) {
  const signingKey = softwareKey(jane.key)
  const abort = new AbortController()
  let changed: { readonly from: Buffer; readonly to: Buffer } | undefined
  const middle = {
    [side]: (bytes: Buffer, at: number) => {
      if (at < index) return [bytes]
      // A flight without its last byte is complete again if the next record starts with that byte.
      if (changed !== undefined) {
        changed = { from: changed.from, to: Buffer.concat([changed.to, bytes]) }
        return [bytes]
      }
      changed = { from: bytes, to: change(bytes) }
      return [changed.to]
    },
  }
  const meeting = meet({ signingKey, middle, signal: abort.signal })
  let echoed = ''
  const settled = meeting.connecting.then(
    (socket) => {
      socket
        .on('error', () => {})
        .on('data', (chunk) => {
          echoed += chunk
        })
      socket.write('hello')
    },
    () => {},
  )
  await meeting.idle()
  // If bytes are missing, both sides wait until one of them gives up.
  abort.abort()
  await settled
  await meeting.idle()
  const result = {
    changed,
    isSigned: signingKey.requests.length > 0,
    isAuthenticated: meeting.accepted.some(({ authorized }) => authorized),
    echoed,
  }
  meeting.end()
  return result
}

/** What both sides authenticate: the hello messages, and all encrypted records. */
function essence(bytes: Buffer): string[] {
  return recordsOf(bytes)
    .filter(({ type }) => type === HANDSHAKE || type === ENCRYPTED)
    .map(({ type, fragment, bytes: all }) => (type === HANDSHAKE ? fragment : all).toString('hex'))
}

/** All records before the first bytes that are not a record: a server that has its flight does not read them. */
function recordsOf(bytes: Buffer): TlsRecord[] {
  const splitter = new RecordSplitter()
  const records: TlsRecord[] = []
  try {
    for (const byte of bytes) records.push(...splitter.push(Buffer.from([byte])))
  } catch {}
  return records
}

function isPrefix(beginning: readonly string[], whole: readonly string[]): boolean {
  return beginning.every((part, index) => part === whole[index])
}
