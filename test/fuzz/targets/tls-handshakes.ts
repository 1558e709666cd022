import type { Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { attempt, isEssential } from '../../../packages/core/test/tls/attempt-handshake.ts'
import { meet } from '../../../packages/core/test/tls/in-memory-server.ts'
import type { Mutation } from '../../../packages/core/test/tls/mutations.ts'
import { softwareKey } from '../../../packages/core/test/tls/software-key.ts'
import { authority, jane } from '../../../packages/core/test/tls/tls-server.ts'
import { type FuzzTarget, must } from '../fuzz-target.ts'

/**
 * Live handshakes over memory that are changed on the way. The reference is Node's own client with the same change.
 *
 * The input is the change: the side, the chunk, the kind of change, its place in two bytes, and the bytes to insert.
 */
export const tlsHandshakes: FuzzTarget = {
  name: 'tls-handshakes',
  about: 'a changed handshake is neither signed nor authenticated',
  async open() {
    return {
      corpus: [0, 1, 2, 3].flatMap((kind) =>
        [0, 1].flatMap((side) =>
          [0, 64, 128, 250].map((at) => Buffer.of(side, 0, kind, at, 7, 0x17)),
        ),
      ),
      async check(input, note) {
        const [sideBit = 0, chunk = 0] = input
        const side = sideBit % 2 === 0 ? 'toClient' : 'toServer'
        const index = chunk % 2
        const change = changeOf(input)
        const isFirstFlight = side === 'toClient' && index === 0
        const outcome = await attempt({ side, index, change })
        checkOutcome(outcome, { mayBeSigned: !isFirstFlight, mayBeAccepted: side === 'toClient' })
        // The bytes differ from handshake to handshake, so this is not more than a note.
        const isRefused = isFirstFlight && !outcome.isSigned
        if (isRefused && (await isAcceptedByNode(change))) note('Node accepts what is not signed')
      },
    }
  },
}

interface Allowed {
  /** Whether a handshake with an essential change may be signed: the server's flight was complete before it. */
  readonly mayBeSigned: boolean
  readonly mayBeAccepted: boolean
}

function checkOutcome(
  { changed, isSigned, isAuthenticated, echoed }: Awaited<ReturnType<typeof attempt>>,
  { mayBeSigned, mayBeAccepted }: Allowed,
): void {
  const what = `${changed?.from.toString('hex')} became ${changed?.to.toString('hex')}`
  const isChanged = isEssential(changed)
  must(mayBeSigned || !(isChanged && isSigned), `a changed flight was signed: ${what}`)
  must(mayBeAccepted || !(isChanged && isAuthenticated), `a changed side was accepted: ${what}`)
  must(echoed === '' || (echoed === 'hello' && isSigned), 'unsigned bytes were accepted')
}

function changeOf(input: Buffer): Mutation {
  const [, , kind = 0, high = 0, low = 0] = input
  const more = input.subarray(5, 45)
  return (bytes) => {
    const start = Math.floor(((high * 256 + low) / 65_536) * bytes.length)
    const [before, after] = [bytes.subarray(0, start), bytes.subarray(start)]
    if (kind % 4 === 0) return Buffer.concat([before, more, after.subarray(more.length)])
    if (kind % 4 === 1) return Buffer.concat([before, more, after])
    if (kind % 4 === 2) return Buffer.concat([before, after.subarray(more.length)])
    return before
  }
}

/** Whether Node's own client completes the handshake with this change of the first flight of the server. */
async function isAcceptedByNode(change: Mutation): Promise<boolean> {
  let isAccepted = false
  const open = (socket: Socket): Promise<TLSSocket> =>
    new Promise((resolve, reject) => {
      const identity = {
        ca: authority.ca,
        servername: 'localhost',
        cert: jane.chain,
        key: jane.key,
      }
      const secured = connect({ socket, ...identity, minVersion: 'TLSv1.3' })
      secured.on('error', reject)
      secured.once('secureConnect', () => {
        isAccepted = true
        resolve(secured)
      })
    })
  const toClient = (bytes: Buffer, index: number): Buffer[] => [index === 0 ? change(bytes) : bytes]
  const meeting = meet({ signingKey: softwareKey(jane.key), middle: { toClient }, connect: open })
  await meeting.idle()
  meeting.end()
  return isAccepted
}
