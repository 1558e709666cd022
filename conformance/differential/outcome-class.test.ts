import { expect, it } from 'vitest'
import { classify } from './outcome-class.ts'

const kubectl = { name: 'kubectl', start: ['kubectl'] } as const

// A server that closes the connection during a handshake: kubectl's error depends on its state at that time.
it.each([
  'Get "https://127.0.0.1:1/api": EOF',
  'write tcp 127.0.0.1:46138->127.0.0.1:1: write: broken pipe',
  'read tcp 127.0.0.1:46138->127.0.0.1:1: read: connection reset by peer',
  'write tcp 127.0.0.1:46138->127.0.0.1:1: use of closed network connection',
  'http2: client conn could not be established',
])('a server that hangs up is the network: %s', (words) => {
  const stderr = `Unable to connect to the server: ${words}\n`
  expect(classify(kubectl, { status: 1, stdout: '', stderr }, undefined)).toBe('network')
})

it('an unknown message has no class', () => {
  const ended = { status: 1, stdout: '', stderr: 'something new' }
  expect(classify(kubectl, ended, undefined)).toBe('something else: something new')
})
