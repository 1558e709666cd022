import { describe, expect, it } from 'vitest'
import { TrafficSecrets } from '../../src/tls/traffic-secrets.ts'
import { hex } from './tracked-handshake.ts'

describe('the traffic secrets in the lines of a keylog', () => {
  const random = 'ab'.repeat(32)
  const line = (side: string, own: string = random, secret = '0aF9'.repeat(16)) =>
    Buffer.from(`${side}_HANDSHAKE_TRAFFIC_SECRET ${own} ${secret}`)
  const of = (...lines: Buffer[]) => {
    const secrets = new TrafficSecrets()
    for (const each of lines) secrets.addKeylogLine(each)
    return secrets
  }
  const read = (secrets: TrafficSecrets, side: 'client' | 'server' = 'client', length = 32) =>
    secrets.secret(side, hex(random), length)

  it('are those of each side, with or without a line feed', () => {
    const secrets = of(line('CLIENT'), line('SERVER', random, `${'11'.repeat(32)}\n`))
    expect(read(secrets)).toEqual(hex('0af9'.repeat(16)))
    expect(read(secrets, 'server')).toEqual(hex('11'.repeat(32)))
  })

  it.each([
    ['of no line', []],
    ['of the other side', [line('SERVER')]],
    ['reported twice', [line('CLIENT'), line('CLIENT')]],
    ['with a short random', [line('CLIENT', 'ab')]],
    ['with a letter that is not a digit', [line('CLIENT', `${random.slice(0, -1)}g`)]],
    ['with half a byte', [line('CLIENT', random, 'abc')]],
    ['with another letter', [line('CLIENT', random, `${'00'.repeat(31)}0:`)]],
    ['with a letter before a', [line('CLIENT', random, `${'00'.repeat(31)}0@`)]],
    ['without a secret', [Buffer.from(`CLIENT_HANDSHAKE_TRAFFIC_SECRET ${random}`)]],
    ['of another label', [Buffer.from(`EXPORTER_SECRET ${random} ${'00'.repeat(32)}`)]],
  ])('are not there: %s', (_, lines) => {
    expect(() => read(of(...lines))).toThrow('Node did not report the secrets')
  })

  it('are not those of another handshake', () => {
    expect(() => read(of(line('CLIENT', 'cd'.repeat(32))))).toThrow('secrets of another handshake')
    expect(() => read(of(line('CLIENT')), 'client', 48)).toThrow('secrets of another handshake')
  })

  it('are overwritten when they are wiped', () => {
    const secrets = of(line('CLIENT'))
    const secret = read(secrets)
    secrets.wipe()
    expect(secret).toEqual(Buffer.alloc(32))
    expect(() => read(secrets)).toThrow('Node did not report the secrets')
  })
})
