import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { HandshakeTracker, type TrackedHandshake } from '../../src/tls/handshake-tracker.ts'
import { softwareKey } from './software-key.ts'
import { dialSigned, failure, jane, startServer } from './tls-server.ts'

const secrets: Buffer[] = []
const lines: Buffer[] = []

beforeEach(() => {
  const { conclude, addKeylogLine } = HandshakeTracker.prototype
  vi.spyOn(HandshakeTracker.prototype, 'conclude').mockImplementation(function (
    this: HandshakeTracker,
  ): TrackedHandshake {
    const tracked = conclude.call(this)
    expect(isWiped(tracked.secret)).toBe(false)
    secrets.push(tracked.secret)
    return tracked
  })
  vi.spyOn(HandshakeTracker.prototype, 'addKeylogLine').mockImplementation(function (
    this: HandshakeTracker,
    line,
  ) {
    lines.push(line)
    addKeylogLine.call(this, line)
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  secrets.length = 0
  lines.length = 0
})

describe('the traffic secrets of a handshake are wiped', () => {
  it('when the connection is open', async () => {
    await using server = await startServer()
    const socket = await dialSigned(server.port)
    expectWiped()
    socket.destroy()
  })

  it('when the server requested no certificate', async () => {
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

  it('when the caller aborts', async () => {
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
