import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { parseProxyUrl } from '../../src/dial/proxy.ts'
import { openSocks5Tunnel } from '../../src/dial/tunnels.ts'
import { Secret } from '../../src/secret/secret.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { listen, startSocksProxy, type TestProxy } from '../fixtures/proxies.ts'

const PASSWORD = 'hidden-4b81f0c2'
const GRANTED = [5, 0, 0, 1, 127, 0, 0, 1, 0, 80]

/** A proxy that sends these responses, one for each message it receives. */
const answering = (...answers: (readonly number[])[]) =>
  listen((socket, proxy) => {
    const left = [...answers]
    socket.on('data', (data: Buffer) => {
      proxy.heard.push(data.toString('hex'))
      const answer = left.shift()
      if (answer === undefined) socket.end()
      else socket.write(Buffer.from(answer))
    })
  })

async function ask(proxy: TestProxy, host = 'api.example', login = ''): Promise<Socket> {
  const server = parseProxyUrl(new Secret(`socks5://${login}127.0.0.1:${proxy.port}`), 'proxy-url')
  const socket = connect(proxy.port, '127.0.0.1').on('error', () => {})
  await openSocks5Tunnel(socket, server, { host, port: 6443 })
  return socket
}

describe('SOCKS5', () => {
  it.each([
    ['api.example', '03', `0b${Buffer.from('api.example').toString('hex')}`],
    ['10.1.2.3', '01', '0a010203'],
    ['::1', '04', `${'0'.repeat(31)}1`],
    ['fd00::', '04', `fd${'0'.repeat(30)}`],
    ['2001:db8::a:0:5', '04', '20010db8000000000000000a00000005'],
    ['::ffff:10.1.2.3', '04', '00000000000000000000ffff0a010203'],
    ['1:2:3:4:5:6:7:8', '04', '00010002000300040005000600070008'],
  ])(
    'sends %s in the right form and leaves name resolution to the proxy',
    async (host, kind, bytes) => {
      await using proxy = await answering([5, 0], GRANTED)
      await ask(proxy, host)
      expect(proxy.heard).toEqual(['050100', `050100${kind}${bytes}192b`])
    },
  )

  it.each([
    ['IPv4', [5, 0, 0, 1, 1, 2, 3, 4, 0, 80]],
    ['IPv6', [5, 0, 0, 4, ...Array<number>(16).fill(7), 0, 80]],
    ['a name', [5, 0, 0, 3, 3, 97, 98, 99, 0, 80]],
    ['an empty name', [5, 0, 0, 3, 0, 0, 80]],
  ])('reads a reply with %s to its end, and nothing after it', async (_, reply) => {
    await using proxy = await answering([5, 0], [...reply, ...Buffer.from('behind')])
    const socket = await ask(proxy)
    for await (const chunk of socket) {
      expect(String(chunk)).toBe('behind')
      break
    }
  })

  it('reads replies that arrive byte by byte', async () => {
    const pieces = [[5], [0]]
    await using proxy = await listen((socket) => {
      socket.setNoDelay(true).on('data', async () => {
        const reply = pieces.length > 0 ? pieces.splice(0) : GRANTED.map((byte) => [byte])
        for (const piece of reply) {
          await new Promise((sent) => socket.write(Buffer.from(piece), sent))
          await new Promise((turn) => setImmediate(turn))
        }
      })
    })
    expect((await ask(proxy)).destroyed).toBe(false)
  })

  it('logs in with the decoded user and password if the proxy asks for it', async () => {
    await using proxy = await answering([5, 2], [1, 0], GRANTED)
    await ask(proxy, 'h', 'j%40:p%3A@')
    expect(proxy.heard.slice(0, 2)).toEqual(['05020002', '01026a4002703a'])
  })

  it('does not log in if the proxy does not ask for it', async () => {
    await using proxy = await answering([5, 0], GRANTED)
    await ask(proxy, 'h', `jane:${PASSWORD}@`)
    expect(proxy.heard.join('')).not.toContain(Buffer.from(PASSWORD).toString('hex'))
  })

  it.each<[string, string, RegExp, (readonly number[])[]]>([
    ['another version', '', /did not respond with SOCKS5$/, [[4, 90]]],
    ['HTTP', '', /did not respond with SOCKS5$/, [[...Buffer.from('HTTP/1.1 400 Bad Request')]]],
    ['no method in common', '', /requires a user and password$/, [[5, 255]]],
    ['a method that was not offered', '', /requires a user and password$/, [[5, 2]]],
    ['unknown methods', 'u:p@', /does not support a user and password$/, [[5, 255]]],
    [
      'a refused login',
      `u:${PASSWORD}@`,
      /rejected the user/,
      [
        [5, 2],
        [1, 1],
      ],
    ],
    [
      'a login reply of another version',
      'u:p@',
      /did not respond with SOCKS5$/,
      [
        [5, 2],
        [5, 0],
      ],
    ],
    [
      'failure',
      '',
      /api\.example:6443: general failure$/,
      [
        [5, 0],
        [5, 1, 0, 1, 0, 0, 0, 0, 0, 0],
      ],
    ],
    [
      'a rule of the proxy',
      '',
      /its rules do not allow it$/,
      [
        [5, 0],
        [5, 2, 0, 1, 0, 0, 0, 0, 0, 0],
      ],
    ],
    [
      'a server that refuses',
      '',
      /connection refused$/,
      [
        [5, 0],
        [5, 5],
      ],
    ],
    [
      'an unknown reply code',
      '',
      /code 99$/,
      [
        [5, 0],
        [5, 99, 0, 1],
      ],
    ],
    [
      'an unknown address type',
      '',
      /unknown type 9$/,
      [
        [5, 0],
        [5, 0, 0, 9, 1],
      ],
    ],
    ['closing after the greeting', '', /closed the connection before/, []],
    ['closing before its reply', '', /closed the connection before/, [[5, 0]]],
  ])('fails on %s', async (_, login, says, answers) => {
    await using proxy = await answering(...answers)
    const error = await ask(proxy, 'api.example', login).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'ERR_PROXY_FAILED',
      message: expect.stringMatching(says),
      proxy: `socks5://127.0.0.1:${proxy.port}`,
    })
    expectNoLeak([error], [PASSWORD])
  })

  it('fails for a host name that is too long', async () => {
    await using proxy = await answering()
    await expect(ask(proxy, 'x'.repeat(256))).rejects.toMatchObject({ code: 'ERR_PROXY_FAILED' })
  })

  it('fails with a hint if the proxy rejects the login', async () => {
    await using proxy = await startSocksProxy({ login: 'jane:secret', to: 9 })
    await expect(ask(proxy, 'api.example', 'jane:wrong@')).rejects.toMatchObject({
      hint: expect.stringContaining('Check the user and password in proxy-url'),
    })
  })
})
