import { request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildGo, type GoBuild, isThere, startGo, startProgram } from './other-servers.ts'
import { softwareKey } from './software-key.ts'
import { authority, dialSigned, echo, eventually, failure, jane, openTcp } from './tls-server.ts'

const rsa = await authority.client('RSA-2048')
const below = await (await authority.below()).client('P-256')
const CLIENTS = [
  ['P-256', jane],
  ['RSA', rsa],
  ['a chain', below],
] as const

describe.skipIf(!isThere('openssl', 'version'))('openssl s_server', () => {
  const start = (...more: string[]) =>
    startProgram('openssl', ({ cert, key, ca }, port) => [
      's_server',
      ...['-accept', `127.0.0.1:${port}`, '-cert', cert, '-key', key, '-CAfile', ca],
      ...['-Verify', '3', '-verify_return_error', ...more],
    ])

  it.each(CLIENTS)('accepts %s', async (_, identity) => {
    await using server = await start()
    const socket = await dialSigned(server.port, { identity })
    socket.write('hello openssl\n')
    await eventually(() => expect(server.said()).toContain('hello openssl'))
    expect(server.said()).toMatch(/subject=CN\s*=\s*jane/)
    socket.destroy()
  })

  it.each([
    ['another cipher suite', ['-ciphersuites', 'TLS_CHACHA20_POLY1305_SHA256']],
    ['another group, by a HelloRetryRequest', ['-groups', 'P-384']],
    ['no middlebox compatibility', ['-no_middlebox']],
    ['records of 512 bytes', ['-max_send_frag', '512']],
    ['padded records', ['-record_padding', '1000']],
  ])('accepts a signed connection with %s', async (_, options) => {
    await using server = await start(...options)
    const socket = await dialSigned(server.port)
    socket.write('hello openssl\n')
    await eventually(() => expect(server.said()).toContain('hello openssl'))
    socket.destroy()
  })

  // K also requests a KeyUpdate of the client, k does not.
  it.each([
    ['K', 1],
    ['k', 1],
    ['K', 20],
  ])('can update its keys with %s, %i times in a row', async (command, count) => {
    await using server = await start('-msg')
    const socket = await dialSigned(server.port)
    let heard = ''
    socket.on('data', (chunk) => {
      heard += chunk
    })
    socket.write('before\n')
    await eventually(() => expect(server.said()).toContain('before'))
    // Each is a line of its own, so that s_server reads it as a command.
    for (let times = 1; times <= count; times += 1) {
      server.child.stdin.write(`${command}\n`)
      await eventually(() =>
        expect(server.said().match(/>>> .*KeyUpdate/g)?.length).toBeGreaterThanOrEqual(times),
      )
    }
    server.child.stdin.write('news\n')
    await eventually(() => expect(heard).toContain('news'))
    socket.write('after\n')
    await eventually(() => expect(server.said()).toContain('after'))
    if (command === 'K') expect(server.said()).toMatch(/<<< .*KeyUpdate/)
    socket.destroy()
  })

  it('rejects an unknown CA with an alert', async () => {
    await using server = await startProgram('openssl', ({ cert, key }, port) => [
      's_server',
      ...['-accept', `127.0.0.1:${port}`, '-cert', cert, '-key', key, '-CAfile', cert],
      ...['-Verify', '3', '-verify_return_error'],
    ])
    const socket = await dialSigned(server.port)
    const error = await new Promise((resolve) => socket.once('error', resolve).resume())
    expect(error).toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA' })
    socket.destroy()
  })

  it('receives user_canceled if the key fails to sign', async () => {
    await using server = await start('-msg')
    const signingKey = softwareKey(jane.key, { sign: () => Promise.reject(new Error('no')) })
    expect(await failure(dialSigned(server.port, { signingKey }))).toMatchObject({ message: 'no' })
    await eventually(() => expect(server.said()).toContain('user_canceled'))
  })
})

describe.skipIf(!isThere('gnutls-serv', '--version'))('gnutls-serv', () => {
  const start = (...more: string[]) =>
    startProgram('gnutls-serv', ({ cert, key, ca }, port) => [
      ...['-p', String(port), '--x509certfile', cert, '--x509keyfile', key, '--x509cafile', ca],
      ...['--echo', '--require-client-cert', '--verify-client-cert', ...more],
    ])

  it.each(CLIENTS)('accepts %s', async (_, identity) => {
    await using server = await start()
    const socket = await dialSigned(server.port, { identity })
    expect(await echo(socket, 'hello\n')).toBe('hello\n')
    socket.destroy()
  })

  it('accepts a signed connection after a HelloRetryRequest', async () => {
    await using server = await start('--priority', 'NORMAL:-GROUP-ALL:+GROUP-SECP384R1')
    const socket = await dialSigned(server.port)
    expect(await echo(socket, 'hello\n')).toBe('hello\n')
    socket.destroy()
  })
})

describe.skipIf(!isThere('go', 'version'))('a Go server', () => {
  let build: GoBuild
  beforeAll(() => {
    build = buildGo()
  }, 240_000)
  afterAll(() => build?.[Symbol.dispose]())

  it.each(CLIENTS)('accepts %s over HTTP/1.1', async (_, identity) => {
    await using server = await startGo(build)
    const socket = await dialSigned(server.port, { identity })
    expect(await get(socket)).toBe('jane HTTP/1.1 0')
    socket.destroy()
  })

  it('accepts a signed connection over HTTP/2', async () => {
    await using server = await startGo(build)
    const socket = await dialSigned(server.port, { tls: { ALPNProtocols: ['h2'] } })
    expect(socket.alpnProtocol).toBe('h2')
    const session = connectHttp2('https://localhost', { createConnection: () => socket })
    const stream = session.request({ ':path': '/' })
    let body = ''
    for await (const chunk of stream.setEncoding('utf8')) body += chunk
    expect(body).toBe('jane HTTP/2.0 0')
    session.destroy()
  })

  it('accepts a signed connection after a HelloRetryRequest', async () => {
    await using server = await startGo(build, '-p384')
    const socket = await dialSigned(server.port)
    expect(await get(socket)).toBe('jane HTTP/1.1 0')
    expect(socket.getEphemeralKeyInfo()).toMatchObject({ name: 'secp384r1' })
    socket.destroy()
  })

  it('closes the connection if the signature takes too long', async () => {
    await using server = await startGo(build, '-timeout', '300ms')
    const tcp = await openTcp(server.port)
    const closed = new Promise((resolve) => tcp.once('end', resolve).once('close', resolve))
    const signingKey = softwareKey(jane.key, {
      sign: async (sign) => {
        await closed
        return sign()
      },
    })
    const error = await failure(dialSigned(server.port, { socket: tcp, signingKey }))
    expect(error).toMatchObject({ code: 'ERR_SIGNED_TOO_LATE' })
    // A new connection succeeds once the key signs without delay.
    const socket = await dialSigned(server.port, { signingKey })
    expect(await get(socket)).toBe('jane HTTP/1.1 0')
    socket.destroy()
  })
})

async function get(socket: TLSSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ createConnection: () => socket, host: 'localhost' }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => resolve(body))
    })
    sent.on('error', reject).end()
  })
}
