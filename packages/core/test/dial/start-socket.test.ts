import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { startSandbox } from '@kubecred/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTcp, startTls, waitForConnect } from '../../src/dial/start-socket.ts'

let sandbox: Awaited<ReturnType<typeof startSandbox>>
let port = 0
beforeAll(async () => {
  sandbox = await startSandbox()
  port = Number(new URL(sandbox.url).port)
})
afterAll(() => sandbox.close())

const KEEP_ALIVE_TIMER = '02'

/** Returns the kind of the timer that the kernel has for a connection, and the seconds that are left. */
function kernelTimer({ localPort, remotePort }: Socket): { kind: string; seconds: number } {
  // Both ends: a connection to another port that has ended may have had the same local port.
  const ends = [localPort, remotePort].map((port) => `0100007F:${hexadecimal(port)}`).join(' ')
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  const fields = lines.find((line) => line.includes(ends))?.trim()
  const [kind = '', left = ''] = fields?.split(/\s+/)[5]?.split(':') ?? []
  return { kind, seconds: Number.parseInt(left, 16) / 100 }
}

function hexadecimal(port = 0): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
}

describe.runIf(process.platform === 'linux')('the kernel keeps a connection alive', () => {
  it.each<[string, () => Promise<Socket>]>([
    ['over TCP', () => waitForConnect(startTcp({ host: '127.0.0.1', port }), 'connect')],
    [
      'over TLS',
      () => {
        const options = { host: '127.0.0.1', port, ca: sandbox.caPem, servername: 'localhost' }
        return waitForConnect(startTls(options), 'secureConnect')
      },
    ],
  ])('%s', async (_, open) => {
    const socket = await open()
    // While data is not acknowledged, the kernel has another timer.
    await expect.poll(() => kernelTimer(socket).kind).toBe(KEEP_ALIVE_TIMER)
    expect(kernelTimer(socket).seconds).toBeLessThanOrEqual(30)
    socket.destroy()
  })
})
