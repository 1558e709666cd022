import { expect, it } from 'vitest'
import { ByteReader } from '../../src/tls/bytes.ts'
import { meet } from './in-memory-server.ts'
import { softwareKey } from './software-key.ts'
import { jane } from './tls-server.ts'

const SIGNATURE_ALGORITHMS = 13
const PRE_SHARED_KEY = 41
const EARLY_DATA = 42
const SUPPORTED_VERSIONS = 43
const POST_HANDSHAKE_AUTH = 49

it('a server cannot ask for a signature after the handshake, nor resume one', async () => {
  const hellos: Buffer[] = []
  const toServer = (bytes: Buffer, index: number): Buffer[] => {
    if (index === 0) hellos.push(bytes)
    return [bytes]
  }
  const signingKey = softwareKey(jane.key)
  const meeting = meet({ signingKey, middle: { toServer } })
  const socket = await meeting.connecting
  const offered = hellos.flatMap(extensionsOf)
  expect(offered).toEqual(expect.arrayContaining([SIGNATURE_ALGORITHMS, SUPPORTED_VERSIONS]))
  for (const type of [PRE_SHARED_KEY, EARLY_DATA, POST_HANDSHAKE_AUTH]) {
    expect(offered).not.toContain(type)
  }
  expect(socket.getSession()).toBeUndefined()
  expect(signingKey.requests).toHaveLength(1)
  meeting.end()
})

/** The types of the extensions of a ClientHello that is in one record. */
function extensionsOf(record: Buffer): number[] {
  const reader = new ByteReader(record, 'the ClientHello')
  // Headers of record and message, version and random.
  reader.take(5 + 4 + 2 + 32)
  reader.vector8()
  reader.vector16()
  reader.vector8()
  const list = new ByteReader(reader.vector16(), 'its extensions')
  const types: number[] = []
  while (!list.isAtEnd) {
    types.push(list.uint16())
    list.vector16()
  }
  return types
}
