import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type FollowedHandshake, HandshakeFollower } from '../../src/tls/handshake-tracker.ts'
import { softwareKey } from './software-key.ts'
import { dialSigned, failure, jane, startServer } from './tls-server.ts'

const secrets: Buffer[] = []
const lines: Buffer[] = []

beforeEach(() => {
  const { conclude, takeKeylog } = HandshakeFollower.prototype
  vi.spyOn(HandshakeFollower.prototype, 'conclude').mockImplementation(function (
    this: HandshakeFollower,
  ): FollowedHandshake {
    const followed = conclude.call(this)
    expect(isWiped(followed.secret)).toBe(false)
    secrets.push(followed.secret)
    return followed
  })
  vi.spyOn(HandshakeFollower.prototype, 'takeKeylog').mockImplementation(function (
    this: HandshakeFollower,
    line,
  ) {
    lines.push(line)
    takeKeylog.call(this, line)
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  secrets.length = 0
  lines.length = 0
})

describe('the secrets of a handshake are wiped', () => {
  it('when the connection is made', async () => {
    await using server = await startServer()
    const socket = await dialSigned(server.port)
    expectWiped()
    socket.destroy()
  })

  it('when the server did not ask', async () => {
    await using server = await startServer({ requestCert: false })
    const socket = await dialSigned(server.port)
    expectWiped()
    socket.destroy()
  })

  it('when the key fails', async () => {
    await using server = await startServer()
    const signingKey = softwareKey(jane.key, { sign: () => Promise.reject(new Error('no')) })
    await failure(dialSigned(server.port, { signingKey }))
    expectWiped()
  })

  it('when nobody waits any more', async () => {
    await using server = await startServer()
    const abort = new AbortController()
    const signingKey = softwareKey(jane.key, {
      sign: () => {
        abort.abort()
        return new Promise(() => {})
      },
    })
    await failure(dialSigned(server.port, { signingKey, signal: abort.signal }))
    expectWiped()
  })
})

function expectWiped(): void {
  expect(secrets).toHaveLength(1)
  expect(lines.length).toBeGreaterThanOrEqual(2)
  expect([...secrets, ...lines].every(isWiped)).toBe(true)
}

function isWiped(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0)
}
