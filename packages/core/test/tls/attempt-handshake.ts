import { RecordSplitter, type TlsRecord } from '../../src/tls/records.ts'
import { meet } from './in-memory-server.ts'
import type { Mutation } from './mutations.ts'
import { softwareKey } from './software-key.ts'
import { jane } from './tls-server.ts'

const HANDSHAKE = 22
const ENCRYPTED = 23

/** The bytes of a side before and after its change. */
interface Changed {
  readonly from: Buffer
  readonly to: Buffer
}

/** One change of one chunk of a handshake. */
interface Attempt {
  readonly side: 'toClient' | 'toServer'
  readonly index: number
  readonly change: Mutation
}

/** Runs one handshake with one change, and an echo if it succeeds. It always ends. */
export async function attempt({ side, index, change }: Attempt) {
  const signingKey = softwareKey(jane.key)
  const abort = new AbortController()
  let changed: Changed | undefined
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

/** Whether a change affects anything that both sides authenticate. */
export function isEssential(changed: Changed | undefined): boolean {
  return changed !== undefined && !isPrefix(essence(changed.from), essence(changed.to))
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
