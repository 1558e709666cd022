import { connect, type TLSSocket } from 'node:tls'
import { startSandbox } from '@kubecred/sandbox'
import { connect as connectCluster } from 'kubecred'
import { afterEach, expect, it, vi } from 'vitest'
import { startLocalProxy } from '../../src/register/local-proxy.ts'

afterEach(() => void vi.useRealTimers())

it('the local proxy renews its certificate every day, signed by the same authority', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  await using sandbox = await startSandbox()
  const { token } = sandbox.issueToken({ user: 'jane' })
  const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
  await using cluster = await connectCluster({ kubeconfig })
  const proxy = await startLocalProxy(cluster, () => Date.now())
  const port = Number(new URL(proxy.url).port)
  const serial = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket: TLSSocket = connect({ host: '127.0.0.1', port, ca: proxy.ca }, () => {
        resolve(socket.getPeerCertificate().serialNumber)
        socket.destroy()
      })
      socket.on('error', reject)
    })
  const first = await serial()
  expect(await serial()).toBe(first)
  vi.advanceTimersByTime(86_400_000)
  expect(await serial()).not.toBe(first)
  await proxy.close()
  await expect(serial()).rejects.toThrow()
})
