import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.ts'
import { call } from '../client.ts'
import { attach, createPod, POD } from './pod.ts'

let sandbox: Sandbox
let token: string
beforeAll(async () => {
  sandbox = await startSandbox()
  token = sandbox.issueToken({ user: 'jane', groups: ['system:masters'] }).token
  await createPod(sandbox, token)
})
afterAll(async () => sandbox.close())

const SUCCESS = { metadata: {}, status: 'Success' }
const END_OF_INPUT = Buffer.of(255, 0)
const exec = (...command: string[]): string =>
  `${POD}/exec?${command.map((word) => `command=${encodeURIComponent(word)}`).join('&')}`

describe('exec', () => {
  it.each(['v5.channel.k8s.io', 'v4.channel.k8s.io', 'channel.k8s.io'])(
    'sends back what comes on standard input, in %s',
    async (protocol) => {
      const pod = await attach(sandbox, exec('cat'), token, [protocol])
      expect(pod.socket.protocol).toBe(protocol)
      pod.send(0, 'hello ')
      pod.send(0, 'world')
      await pod.until(1, 'hello world')
      pod.socket.close()
      await pod.ended()
    },
  )

  it('ends with success when the client ends standard input', async () => {
    const pod = await attach(sandbox, exec('sh', '-c', 'true'), token)
    pod.send(0, 'bye')
    pod.socket.send(END_OF_INPUT)
    const { code, bytes } = await pod.ended()
    expect(code).toBe(1000)
    expect(bytes(1).toString()).toBe('bye')
    expect(JSON.parse(bytes(3).toString())).toEqual(SUCCESS)
  })

  it('ignores the close signal of v5 in v4', async () => {
    const pod = await attach(sandbox, exec('cat'), token, ['v4.channel.k8s.io'])
    pod.socket.send(END_OF_INPUT)
    pod.send(0, 'still here')
    await pod.until(1, 'still here')
    pod.socket.terminate()
  })

  it('runs whoami as the user of the request', async () => {
    const pod = await attach(sandbox, exec('whoami'), token)
    const { code, bytes } = await pod.ended()
    expect(code).toBe(1000)
    expect(bytes(1).toString()).toBe('jane')
    expect(JSON.parse(bytes(3).toString())).toEqual(SUCCESS)
    expect(sandbox.requests.at(-1)).toMatchObject({ status: 101, user: 'jane', method: 'GET' })
  })

  it('begins with an empty message, like the kubelet', async () => {
    const pod = await attach(sandbox, exec('whoami'), token)
    await pod.ended()
    expect(pod.messages[0]).toEqual(Buffer.of(1))
    const silent = await attach(sandbox, `${exec('whoami')}&stderr=true`, token)
    await silent.ended()
    expect(silent.messages[0]).toEqual(Buffer.of(2))
  })

  it('sends no status for success in the first version of the protocol', async () => {
    const pod = await attach(sandbox, exec('whoami'), token, ['channel.k8s.io'])
    const { code, bytes } = await pod.ended()
    expect(code).toBe(1000)
    expect(bytes(3)).toHaveLength(0)
  })

  it('runs whoami as the impersonated user', async () => {
    const headers = { 'impersonate-user': 'kim' }
    const pod = await attach(sandbox, exec('whoami'), token, [], { headers })
    expect((await pod.ended()).bytes(1).toString()).toBe('kim')
  })

  it('authenticates the client certificate of the connection', async () => {
    const { certificate: cert, key } = await sandbox.issueCertificate({ user: 'max' })
    const pod = await attach(sandbox, exec('whoami'), token, [], { cert, key })
    expect((await pod.ended()).bytes(1).toString()).toBe('max')
  })

  it('does not send a stream that the client has not requested', async () => {
    const pod = await attach(sandbox, `${exec('whoami')}&stderr=true`, token)
    const { bytes } = await pod.ended()
    expect(bytes(1)).toHaveLength(0)
    expect(JSON.parse(bytes(3).toString())).toEqual(SUCCESS)
  })

  it('ends immediately without standard input', async () => {
    const pod = await attach(sandbox, `${exec('test', '-d', '/tmp')}&stdout=true`, token)
    expect(JSON.parse((await pod.ended()).bytes(3).toString())).toEqual(SUCCESS)
  })

  it('answers pings', async () => {
    const pod = await attach(sandbox, exec('cat'), token)
    const answered = new Promise((resolve) => pod.socket.once('pong', resolve))
    pod.socket.ping()
    await answered
    pod.socket.terminate()
  })
})

describe('tar', () => {
  it('stores an archive and returns it, compressed or not', async () => {
    const archive = randomBytes(100_000)
    const into = await attach(
      sandbox,
      `${exec('tar', 'xf', '-', '-C', '/tmp')}&stdin=true&stderr=true`,
      token,
    )
    into.send(0, archive.subarray(0, 60_000))
    into.send(0, archive.subarray(60_000))
    into.socket.send(END_OF_INPUT)
    expect(JSON.parse((await into.ended()).bytes(3).toString())).toEqual(SUCCESS)

    const plain = await (await attach(sandbox, exec('tar', 'cf', '-', '/tmp'), token)).ended()
    expect(plain.bytes(1).equals(archive)).toBe(true)
    const packed = await (await attach(sandbox, exec('tar', 'zcf', '-', '/tmp'), token)).ended()
    expect(gunzipSync(packed.bytes(1)).equals(archive)).toBe(true)
  })

  it('stores what a client without the v5 close signal sent before it disconnected', async () => {
    const into = await attach(sandbox, exec('tar', 'xf', '-'), token, ['v4.channel.k8s.io'])
    into.send(0, 'archive')
    into.socket.close()
    await into.ended()
    const out = await (await attach(sandbox, exec('tar', 'cf', '-', 'x'), token)).ended()
    expect(out.bytes(1).toString()).toBe('archive')
  })

  it('fails in a pod without an archive', async () => {
    const json = { metadata: { name: 'empty' } }
    await call(sandbox, '/api/v1/namespaces/default/pods', { method: 'POST', token, json })
    const path = exec('tar', 'cf', '-', 'x').replace('/web/', '/empty/')
    const { bytes } = await (await attach(sandbox, path, token)).ended()
    expect(bytes(2).toString()).toMatch(/^tar: /)
    expect(JSON.parse(bytes(3).toString())).toMatchObject({
      status: 'Failure',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '2' }] },
    })
  })
})

describe('attach', () => {
  it('echoes standard input', async () => {
    const pod = await attach(sandbox, `${POD}/attach?stdin=true&stdout=true`, token)
    pod.send(0, 'hello')
    await pod.until(1, 'hello')
    pod.socket.terminate()
  })
})

describe('portforward', () => {
  it('has two channels for each port, which begin with the port number', async () => {
    const pod = await attach(sandbox, `${POD}/portforward?ports=80&ports=8443`, token, [
      'v5.channel.k8s.io',
      'v4.channel.k8s.io',
    ])
    expect(pod.socket.protocol).toBe('v4.channel.k8s.io')
    pod.send(0, 'first')
    pod.send(2, 'second')
    await pod.until(2, `${numberOf(8443)}second`)
    await pod.until(0, `${numberOf(80)}first`)
    await pod.until(1, numberOf(80))
    await pod.until(3, numberOf(8443))
    pod.socket.terminate()
  })
})

function numberOf(port: number): string {
  return Buffer.of(port % 256, port >> 8).toString()
}
