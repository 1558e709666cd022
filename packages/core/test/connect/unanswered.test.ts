import { startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterEach, describe, expect, it } from 'vitest'
import { type PlainServer, startPlainServer } from '../adapters/https/plain-server.ts'
import { withResolvers } from '../adapters/https/with-resolvers.ts'

let plain: PlainServer | undefined
afterEach(() => plain?.[Symbol.asyncDispose]())

describe.each(['pool', 'https', 'http2'] as const)('a request in flight (%s)', (transport) => {
  it('is aborted when its cluster is closed, even if another shares the credential', async () => {
    await using sandbox = await startSandbox()
    const user = { exec: await sandbox.plugin({ user: 'jane' }) }
    const kubeconfig = sandbox.writeKubeconfig({ user })
    const options = { kubeconfig, transport, policy: { requestLimit: 1 } }
    await using stays = await connect(options)
    const leaves = await connect(options)
    const arrived = withResolvers<void>()
    const never = new Promise<undefined>(() => {})
    sandbox.respondWith(({ path }) => {
      if (path === '/version') return undefined
      arrived.resolve()
      return never
    })
    const waiting = expect(leaves.fetch('/slow')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await arrived.promise
    await leaves.close()
    await waiting
    const isOver = () => sandbox.requests.find(({ path }) => path === '/slow')?.hasEnded
    await expect.poll(isOver).toBe(true)
    expect((await stays.fetch('/version')).status).toBe(200)
  })
})

describe.each(['pool', 'https'] as const)('a request without a response (%s)', (transport) => {
  it('is an error if the server upgrades the connection unasked', async () => {
    plain = await startPlainServer(
      ({ socket }) => {
        socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      },
      { transport },
    )
    const { cluster } = plain
    await expect(cluster.fetch('/odd')).rejects.toMatchObject({ code: 'ERR_SERVER_UNREACHABLE' })
  })

  it('is aborted at the server if its body fails', async () => {
    const gone = withResolvers<boolean>()
    const begun = withResolvers<void>()
    plain = await startPlainServer(
      (received) => {
        begun.resolve()
        received.on('error', () => gone.resolve(received.complete)).resume()
      },
      { transport },
    )
    let beats = 0
    const body = new ReadableStream({
      async pull(controller) {
        beats += 1
        if (beats > 3) {
          await begun.promise
          throw new Error('no more')
        }
        controller.enqueue(new TextEncoder().encode('more'))
      },
    })
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit
    await expect(plain.cluster.fetch('/upload', init)).rejects.toThrow('no more')
    expect(await gone.promise).toBe(false)
  })
})
