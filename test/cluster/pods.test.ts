import { connect } from 'kubecred'
import { openWebSocket } from 'kubecred/ws'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { HTTP_PORT } from './harness/kwok-config.ts'
import { SPDY_CLIENTS } from './harness/spdy-clients.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'

const cluster = new TestCluster(inject('cluster'))
const PODS = 'pods/web'
let base: string

beforeAll(async () => {
  const namespace = await cluster.namespace()
  await cluster.pod(namespace)
  base = `/api/v1/namespaces/${namespace}/${PODS}`
})

/** A user whose first token is refused, so that each of these tests begins with a 401. */
async function openRefused() {
  const plugin = cluster.plugin().answerOnce(1, { token: 'unknown.test.token' })
  plugin.answer(cluster.token({ user: cluster.unique('user') }))
  const ours = await connect({ kubeconfig: cluster.kubeconfig({ user: { exec: plugin.exec } }) })
  return { ours, plugin, [Symbol.asyncDispose]: () => ours.close() }
}

/** Collects the data of one channel of a WebSocket. */
function channel(socket: Awaited<ReturnType<typeof openWebSocket>>, number: number) {
  const chunks: Buffer[] = []
  socket.on('message', (message: Buffer) => {
    if (message[0] === number) chunks.push(message.subarray(1))
  })
  return () => Buffer.concat(chunks)
}

describe.concurrent('pods of kwok', () => {
  it('stream their log', async () => {
    await using scene = await openRefused()
    const leave = new AbortController()
    const { signal } = leave
    const answer = await scene.ours.fetch(`${base}/log?follow=true`, { signal })
    expect(answer.status).toBe(200)
    let text = ''
    const reading = (async () => {
      for await (const chunk of answer.body ?? []) text += Buffer.from(chunk).toString()
    })().catch(() => {})
    await until(() => text.includes('hello from the pod'))
    const line = cluster.unique('line')
    cluster.log(line)
    await until(() => text.includes(line))
    leave.abort()
    await reading
    expect(scene.plugin.runs).toBe(2)
  })

  it('accept attach over a WebSocket', async () => {
    await using scene = await openRefused()
    const socket = await openWebSocket(scene.ours, `${base}/attach?stdout=true`, [
      'v5.channel.k8s.io',
    ])
    const output = channel(socket, 1)
    const line = cluster.unique('line')
    await until(() => {
      cluster.log(line)
      return output().includes(line)
    })
    socket.terminate()
    expect(scene.plugin.runs).toBe(2)
  })

  it('report the exit status of a command', async () => {
    await using scene = await openRefused()
    const command = ['sh', '-c', 'echo out; echo err >&2; exit 3'].map(
      (part) => `command=${encodeURIComponent(part)}`,
    )
    const path = `${base}/exec?${command.join('&')}&stdout=true&stderr=true`
    const socket = await openWebSocket(scene.ours, path, ['v5.channel.k8s.io'])
    const [output, errors, status] = [channel(socket, 1), channel(socket, 2), channel(socket, 3)]
    await new Promise<void>((resolve) => socket.once('close', () => resolve()))
    expect(output().toString()).toBe('out\n')
    expect(errors().toString()).toBe('err\n')
    // kwok reports the exit status only in the message.
    const result = JSON.parse(status().toString()) as { status: string; message: string }
    expect(result.status).toBe('Failure')
    expect(result.message).toContain('exit status 3')
  })

  it('forward a port over a WebSocket', async () => {
    await using scene = await openRefused()
    const path = `${base}/portforward?ports=${HTTP_PORT}`
    const socket = await openWebSocket(scene.ours, path, ['v4.channel.k8s.io'])
    const data = channel(socket, 0)
    socket.send(Buffer.concat([Buffer.of(0), Buffer.from('GET / HTTP/1.1\r\nHost: pod\r\n\r\n')]))
    await until(() => data().includes('hello'))
    // Each channel begins with its port, little-endian.
    expect(data().readUInt16LE(0)).toBe(HTTP_PORT)
    expect(data().subarray(2).toString()).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    socket.terminate()
    expect(scene.plugin.runs).toBe(2)
  })

  describe.each(Object.entries(SPDY_CLIENTS))('speak SPDY through %s', (_, open) => {
    it.each([
      ['exec?command=cat&stdin=true&stdout=true', 'v4.channel.k8s.io'],
      ['portforward', 'portforward.k8s.io'],
    ])('%s', async (subresource, protocol) => {
      await using scene = await openRefused()
      const { socket, close } = await open(scene.ours, `${base}/${subresource}`, protocol)
      // A SPDY peer answers a PING frame with the same PING.
      socket.write(PING)
      const answered: Buffer[] = []
      socket.on('data', (chunk: Buffer) => answered.push(chunk))
      await until(() => Buffer.concat(answered).includes(PING))
      socket.destroy()
      await close()
      expect(scene.plugin.runs).toBe(2)
    })
  })
})

/** SPDY/3.1: control bit and version 3, type 6, no flags, four bytes: the number of the ping, odd from a client. */
const PING = Buffer.from('8003000600000004000000' + '01', 'hex')
